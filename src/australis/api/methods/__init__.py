"""The methods of streams that draw one box each, by family. The stubs beside the modules are kept by a test."""
