// replaced by the first sampler
