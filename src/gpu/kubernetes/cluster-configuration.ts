/** Address of the API server of a cluster, and how to authenticate there. */
export interface ClusterConfiguration {
  readonly server: string
  readonly certificateAuthority: Pem | null
  readonly isInsecure: boolean
  /** The name in the certificate of the server, if it differs from the address. */
  readonly serverName: string | null
  readonly proxyUrl: string | null
  readonly user: ClusterUser
}

export interface ClusterUser {
  readonly token: string | null
  /** Read for each request, because tokens of service accounts are renewed. Counts more than `token`. */
  readonly tokenPath: string | null
  /** Name and password with a colon between them. */
  readonly basic: string | null
  readonly certificate: Pem | null
  readonly key: Pem | null
  readonly impersonatedUser: string | null
  readonly exec: ExecPlugin | null
}

/** A certificate or key. Files are read again for new connections. */
export type Pem = { readonly path: string } | { readonly bytes: Buffer }

/** A program that prints credentials, such as `aws eks get-token`. */
export interface ExecPlugin {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Environment
}

export type Environment = Readonly<Record<string, string | undefined>>
