import type { WireSession } from './media-wire.ts'

/**
 * Lets a package that polls for its result send only its first request. The package writes the request, and the gateway polls, so
 * that a restart in between loses nothing.
 */
export async function captureSubmission(
  session: WireSession,
  generate: (session: WireSession) => PromiseLike<unknown>,
): Promise<unknown> {
  let submitted: { answer: unknown } | undefined
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (submitted !== undefined) throw new Error('the job is submitted')
    const response = await session.fetch(input, init)
    if (!response.ok) return response
    submitted = { answer: await response.json() }
    return Response.json(submitted.answer)
  }
  try {
    await generate({ ...session, fetch })
  } catch (error) {
    if (submitted === undefined) throw error
  }
  return submitted?.answer
}
