# Install and export rules: filled in with the shipped libraries.
