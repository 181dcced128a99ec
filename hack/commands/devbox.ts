/** `bottega-devbox` of this checkout: the provisioner, which does in a cloud what the registry of dev instances records. */
await import('../../api/client/devbox/main.ts')
