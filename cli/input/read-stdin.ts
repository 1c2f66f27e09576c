import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** Reads all of stdin. Throws if it is longer than the limit, because it becomes one request. */
export async function readStdin(bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of process.stdin) {
    parts.push(part as Buffer)
    length += (part as Buffer).length
    if (length > bytesMax)
      throw new CommandFailure(EXIT.usage, `The input is longer than ${Math.floor(bytesMax / 1024)} KiB.`)
  }
  return Buffer.concat(parts)
}

/** Reads the first line of stdin. */
export async function readLine(bytesMax: number): Promise<string> {
  const [line = ''] = (await readStdin(bytesMax)).toString('utf8').split('\n')
  return line.trim()
}
