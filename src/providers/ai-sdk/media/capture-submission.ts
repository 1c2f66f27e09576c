import type { WireSession } from './media-wire.ts'

/**
 * Has a package that waits for its result by itself send its first request only: the package says what is asked for, and the
 * waiting is ours, so that a restart in between loses nothing.
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
