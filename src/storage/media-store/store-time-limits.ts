import { Readable } from 'node:stream'

/** Runs a call with a time limit. The call is aborted, and is not waited for if it does not end then. */
export async function within<Result>(
  timeMsMax: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const reason = new Error(`no answer within ${timeMsMax / 1000} s`)
    reject(reason)
    controller.abort(reason)
  }, timeMsMax)
  try {
    return await Promise.race([call(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns a stream that fails if its reader waits longer than this for more. The time that the reader takes does not count. */
export function endWhenStalled(source: Readable, stallMsMax: number): Readable {
  return Readable.from(readOn(source, stallMsMax), { objectMode: false })
}

async function* readOn(source: Readable, stallMsMax: number): AsyncGenerator<Uint8Array> {
  let timer: NodeJS.Timeout | undefined
  const wait = () => {
    timer = setTimeout(
      () => source.destroy(new Error(`the file stopped for ${stallMsMax / 1000} s`)),
      stallMsMax,
    )
  }
  try {
    wait()
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      clearTimeout(timer)
      yield chunk
      wait()
    }
  } finally {
    clearTimeout(timer)
    source.destroy()
  }
}
