"""Background sources: files of names and classes, compiled once, looked up by the word."""
