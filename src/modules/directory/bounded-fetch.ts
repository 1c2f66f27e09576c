import type { CustomFetch } from 'openid-client'

export const PROVIDER_SECONDS_MAX = 10
const ANSWER_BYTES_MAX = 1024 * 1024

/** Thrown when a provider answers more than any provider should. */
class AnswerTooLarge extends Error {}

/**
 * Fetches from a provider within limits of time and size. Redirects are not followed: they are answers that no caller accepts. The host may be
 * private, because an operator named it.
 */
export const boundedFetch: CustomFetch = async (url, { signal, ...options }) => {
  const limit = AbortSignal.timeout(PROVIDER_SECONDS_MAX * 1000)
  const response = await fetch(url, {
    method: options.method,
    headers: options.headers,
    redirect: 'manual',
    ...(options.body === undefined || options.body === null ? {} : { body: await bodyOf(options.body) }),
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  })
  const body = await readBody(response)
  const { status, statusText, headers } = response
  return new Response(hasBody(status) ? body : null, { status, statusText, headers })
}

async function bodyOf(
  body: NonNullable<Parameters<CustomFetch>[1]['body']>,
): Promise<string | URLSearchParams> {
  if (typeof body === 'string' || body instanceof URLSearchParams) return body
  return new Response(body instanceof Uint8Array ? Buffer.from(body) : body).text()
}

async function readBody(response: Response): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES_MAX)
      throw new AnswerTooLarge(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function hasBody(status: number): boolean {
  return status >= 200 && status !== 204 && status !== 205 && status !== 304
}
