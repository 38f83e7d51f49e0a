"""Reading of files and scans."""
