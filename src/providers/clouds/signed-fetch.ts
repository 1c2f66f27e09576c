import type { SignIn } from '../sign-in/sign-in.ts'

interface SignedPost {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | null | undefined
}

/** Headers that packages write from the key that they are given, which is none here. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'anthropic-version']

/**
 * Sends a POST that the credential signs. If the credential is refused and its token is an old one, the request is sent once more with a
 * new one.
 */
export async function fetchSigned(
  fetch: typeof globalThis.fetch,
  signIn: SignIn,
  credential: string,
  { url, body, headers = {}, signal }: SignedPost,
): Promise<Response> {
  const { origin, pathname, search } = new URL(url)
  let signed: readonly string[] = []
  const send = async (): Promise<Response> => {
    signed = await signIn.sign(credential, { method: 'POST', origin, path: pathname + search, body })
    const all = new Headers(headers)
    for (const name of KEY_HEADERS) all.delete(name)
    for (let at = 0; at + 1 < signed.length; at += 2) all.set(signed[at] ?? '', signed[at + 1] ?? '')
    return fetch(url, { method: 'POST', headers: all, body, signal: signal ?? null })
  }
  const response = await send()
  const isRefused = response.status === 401 || response.status === 403
  if (!isRefused || !signIn.forget(credential, signed)) return response
  await response.body?.cancel()
  return send()
}
