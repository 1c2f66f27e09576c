/**
 * Returns the address that signs a person in. The code is in the fragment, which browsers do not send, so it reaches neither a
 * log nor a proxy before the page posts it.
 */
export function signInLink(baseUrl: string, code: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/sign-in#code=${code}`
}

/** Replaces a wildcard address by one that can be called. */
export function nameReachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
