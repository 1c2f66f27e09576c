/** What was sent of a file. It is kept in the browser, so that a reload does not lose it. */
export interface SentParts {
  readonly uploadId: string
  readonly expiresAtMs: number
  readonly partIds: readonly string[]
}

export interface PartSteps {
  readonly begin: () => Promise<{ readonly id: string; readonly expires_at: number }>
  readonly send: (uploadId: string, part: Blob) => Promise<string>
  readonly complete: (uploadId: string, partIds: string[]) => Promise<unknown>
  readonly keep: (sent: SentParts | null) => void
  readonly wait: (ms: number) => Promise<void>
  readonly onProgress: (percent: number) => void
  /** Whether an error is the gateway's answer, which another try does not change. */
  readonly isFinal: (error: unknown) => boolean
  readonly nowMs: () => number
}

export const PART_BYTES = 16 * 1024 * 1024
const TRIES_MAX = 6
const FIRST_WAIT_MS = 1_000
/** An upload that ends so soon is begun anew. */
const LEFT_MS_MIN = 60_000

/** Sends a file part after part, goes on behind what was sent before, and tries again after a lost connection. */
export async function uploadInParts(file: Blob, known: SentParts | null, steps: PartSteps): Promise<void> {
  const usable = known !== null && known.expiresAtMs - steps.nowMs() > LEFT_MS_MIN ? known : null
  let sent = usable ?? (await begin(steps))
  const count = Math.max(1, Math.ceil(file.size / PART_BYTES))
  steps.onProgress((sent.partIds.length / count) * 100)
  while (sent.partIds.length < count) {
    const start = sent.partIds.length * PART_BYTES
    const part = file.slice(start, start + PART_BYTES)
    const { uploadId, partIds } = sent
    const id = await tryAgain(() => steps.send(uploadId, part), steps)
    sent = { ...sent, partIds: [...partIds, id] }
    steps.keep(sent)
    steps.onProgress((sent.partIds.length / count) * 100)
  }
  const { uploadId, partIds } = sent
  await tryAgain(() => steps.complete(uploadId, [...partIds]), steps)
  steps.keep(null)
}

async function begin(steps: PartSteps): Promise<SentParts> {
  const upload = await steps.begin()
  const sent = { uploadId: upload.id, expiresAtMs: upload.expires_at * 1000, partIds: [] }
  steps.keep(sent)
  return sent
}

async function tryAgain<Result>(
  work: () => Promise<Result>,
  { wait, isFinal, keep }: PartSteps,
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work()
    } catch (error) {
      if (isFinal(error)) {
        // The upload has ended, or was never of this key: the next try begins anew.
        keep(null)
        throw error
      }
      if (tried === TRIES_MAX) throw error
      await wait(FIRST_WAIT_MS * 2 ** (tried - 1))
    }
  }
}
