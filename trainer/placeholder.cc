// replaced by the first part
