import { createReadStream, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { RunningContestant } from '../running-contestant.ts'

const READERS = 8
/** About four minutes of speech: a dozen megabytes uncompressed. */
const TEXT = 'The quick brown fox jumps over the lazy dog, and then it rests. '.repeat(64).slice(0, 4096)

/** Makes the gateway store a large file and returns its URL. */
export async function makeLargeFile({ port, requestHeaders }: RunningContestant): Promise<string> {
  const origin = `http://127.0.0.1:${port}`
  const created = await fetch(`${origin}/v1/audio/speech`, {
    method: 'POST',
    headers: { ...requestHeaders, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'elevenlabs-tts', voice: 'echo', input: TEXT, response_format: 'wav' }),
  })
  const { poll_url: path }: { poll_url?: string } = JSON.parse(await created.text())
  if (path === undefined) throw new Error(`speech as a task answers ${created.status}`)
  for (let look = 0; look < 10; look += 1) {
    const response = await fetch(`${origin}${path}?wait=30`, { headers: requestHeaders })
    const task: { status: string; result?: { data: { url: string }[] } } = JSON.parse(await response.text())
    const url = task.result?.data[0]?.url
    if (task.status === 'completed' && url !== undefined) return url
    if (task.status === 'failed') throw new Error('the task that makes a large file failed')
  }
  throw new Error('the task that makes a large file does not end')
}

/** Serves the same file from a server that does nothing else. */
export async function startFileServer(address: string): Promise<{ url: string; close(): void }> {
  const path = join(tmpdir(), `parkway-bench-file-${process.pid}`)
  writeFileSync(path, Buffer.from(await (await fetch(address)).arrayBuffer()))
  const server = createServer((_incoming, response) => {
    response.writeHead(200, { 'content-length': statSync(path).size })
    pipeline(createReadStream(path), response).catch(() => {})
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close()
      server.closeAllConnections()
      unlinkSync(path)
    },
  }
}

/** Returns MiB per second of several readers together. */
export async function measureDownload(url: string, durationMs: number): Promise<number> {
  const startedMs = performance.now()
  let bytes = 0
  const readAgain = async (): Promise<void> => {
    while (performance.now() - startedMs < durationMs) {
      const response = await fetch(url)
      if (!response.ok || response.body === null) throw new Error(`a download answers ${response.status}`)
      for await (const chunk of response.body) bytes += chunk.length
    }
  }
  await Promise.all(Array.from({ length: READERS }, readAgain))
  return bytes / 1024 ** 2 / ((performance.now() - startedMs) / 1000)
}
