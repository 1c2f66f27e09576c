/** A vendor whose package has the vendor's address written into it. */
export interface AudioVendor {
  readonly provider: string
  /** Where the package sends to, up to the version. */
  readonly packageUrl: string
}

export interface AudioModelSettings {
  readonly modelId: string
  readonly apiKey: string
  readonly fetch: typeof globalThis.fetch
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** In the shape that the packages take, sending to the operator's address instead. */
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
