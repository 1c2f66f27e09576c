/** A file of a repository, as listed by the hub. */
export interface ModelFile {
  readonly path: string
  readonly sizeBytes: number
  /** SHA-256 for large (LFS) files, the git blob id for others. In lower case. */
  readonly checksum: { readonly kind: 'sha256' | 'git'; readonly hex: string }
}
