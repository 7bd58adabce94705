"""K-means: tables, peers and quality, and fits of files larger than memory."""
