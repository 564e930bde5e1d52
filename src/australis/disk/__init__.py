"""Files that outlive a crash: written whole, locked, private, or gone with their process."""
