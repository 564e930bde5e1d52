package australis;

import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager;

/**
 * The files of Spark's logs on a local disk, made by Java itself: Hadoop starts a process for each of them to set its
 * mode. All else, such as the rename by which a file appears whole, is as Spark does it. Elsewhere nothing changes.
 */
public final class LogFiles extends FileSystemBasedCheckpointFileManager {
    public LogFiles(Path path, Configuration configuration) {
        super(path, configuration);
    }

    @Override
    public FSDataOutputStream createTempFile(Path path) {
        if (!isLocal()) {
            return super.createTempFile(path);
        }
        try {
            return new FSDataOutputStream(Files.newOutputStream(local(path)), null);
        } catch (IOException error) {
            throw LogFiles.<RuntimeException>asItIs(error);
        }
    }

    @Override
    public void mkdirs(Path path) {
        if (!isLocal()) {
            super.mkdirs(path);
            return;
        }
        try {
            Files.createDirectories(local(path));
        } catch (IOException error) {
            throw LogFiles.<RuntimeException>asItIs(error);
        }
    }

    private static java.nio.file.Path local(Path path) {
        return java.nio.file.Path.of(path.toUri().getPath());
    }

    /** Throws an error as Scala does, which does not say in advance what it throws. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E asItIs(Throwable error) throws E {
        throw (E) error;
    }
}
