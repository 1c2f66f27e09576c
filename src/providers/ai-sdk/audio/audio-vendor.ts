/** A vendor whose address is hard-coded in its package. */
export interface AudioVendor {
  readonly provider: string
  /** The address in the package, up to and including the version. */
  readonly packageUrl: string
}

export interface AudioModelSettings {
  readonly modelId: string
  readonly apiKey: string
  readonly fetch: typeof globalThis.fetch
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Returns a `fetch` for the package that sends its requests to the operator's address instead. */
export function redirectFetch(
  { packageUrl }: AudioVendor,
  baseUrl: string | undefined,
  send: Fetch,
): typeof globalThis.fetch {
  return (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    const isOfPackage = baseUrl !== undefined && url.startsWith(packageUrl)
    return send(isOfPackage ? `${baseUrl.replace(/\/+$/, '')}${url.slice(packageUrl.length)}` : url, init)
  }
}
