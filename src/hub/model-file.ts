/** A file of a repository, as the hub describes it. */
export interface ModelFile {
  readonly path: string
  readonly sizeBytes: number
  /** Of a large file its SHA-256, of others the name of their git blob. In lower case. */
  readonly checksum: { readonly kind: 'sha256' | 'git'; readonly hex: string }
}
