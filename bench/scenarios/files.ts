import { createHash } from 'node:crypto'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import { readRssMib } from '../media/upload.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median } from '../statistics.ts'
import type { MetricRow, Scenario, Verdict } from './scenario.ts'

const ID = 'parkway-files'
const FILE_MIB = 512
const PIECE_BYTES = 1024 * 1024
const GROWTH_MIB_MAX = 100
const SAMPLE_MS = 50
const LISTED = 10_000
const PAGES = [100, 1_000, 10_000]
const PAGE_MS_MAX = 1_000
const TIMES = 5

/** A file of the largest size up and down, and long lists of files. */
export const files: Scenario = {
  id: 'files',
  contestants: [createParkway({ id: ID })],
  run: async ({ contestants, note }) => {
    const gateway = contestants.find(({ id }) => id === ID)
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const up = await watchMemory(gateway, () => upload(gateway))
    note(`files: up after ${up.seconds.toFixed(1)} s`)
    const down = await watchMemory(gateway, () => download(gateway, up.result.id))
    note(`files: down after ${down.seconds.toFixed(1)} s`)
    if (down.result !== up.result.hash) throw new Error('the file that came back is another one')
    await seedFiles(gateway)
    const pages = []
    for (const limit of PAGES) pages.push({ limit, ...(await listAll(gateway, limit)) })
    const samples = { up, down, pages }
    return { rows: tabulate(samples), verdicts: judge(samples), samples }
  },
}

interface Moved {
  readonly seconds: number
  readonly addedMib: number
}

interface Listed {
  readonly limit: number
  readonly pageMs: number
  readonly allMs: number
}

/** Memory is that of the gateway without its database. */
async function watchMemory<Result>(
  gateway: RunningContestant,
  work: () => Promise<Result>,
): Promise<Moved & { readonly result: Result }> {
  const beforeMib = readRssMib(gateway)
  let highestMib = beforeMib
  const watching = setInterval(() => {
    highestMib = Math.max(highestMib, readRssMib(gateway))
  }, SAMPLE_MS)
  const beganMs = performance.now()
  try {
    const result = await work()
    return { result, seconds: (performance.now() - beganMs) / 1000, addedMib: highestMib - beforeMib }
  } finally {
    clearInterval(watching)
  }
}

/** Sends a form whose file is made while it is sent. */
async function upload(gateway: RunningContestant): Promise<{ readonly id: string; readonly hash: string }> {
  const hash = createHash('sha256')
  const boundary = 'bench-bench-bench'
  const part = (name: string, rest = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n`
  const head = Buffer.from(`${part('purpose')}user_data\r\n${part('file', '; filename="large.bin"')}`)
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  async function* body() {
    yield head
    const piece = Buffer.alloc(PIECE_BYTES)
    for (let number = 0; number < FILE_MIB; number += 1) {
      piece.fill(number)
      hash.update(piece)
      yield Buffer.from(piece)
    }
    yield end
  }
  const answer = await fetch(urlOf(gateway), {
    method: 'POST',
    headers: {
      ...gateway.requestHeaders,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + FILE_MIB * PIECE_BYTES + end.length),
    },
    body: ReadableStream.from(body()),
    duplex: 'half',
  })
  if (!answer.ok) throw new Error(`the file is refused: ${await answer.text()}`)
  return { id: ((await answer.json()) as { id: string }).id, hash: hash.digest('hex') }
}

/** Returns the hash of the content. */
async function download(gateway: RunningContestant, id: string): Promise<string> {
  const answer = await fetch(urlOf(gateway, `/${id}/content`), { headers: gateway.requestHeaders })
  if (!answer.ok || answer.body === null) throw new Error(`the file is not there: ${await answer.text()}`)
  const hash = createHash('sha256')
  for await (const piece of answer.body) hash.update(piece)
  return hash.digest('hex')
}

/** Further files of the account, which are listed only. */
async function seedFiles({ ledger }: RunningContestant): Promise<void> {
  if (ledger === undefined) throw new Error('the gateway has no database of its own')
  await withGatewayDatabase(ledger.dataDirectory, (database) =>
    database.query(
      `INSERT INTO parkway.files (id, account_id, purpose, filename, bytes, created_at)
       SELECT gen_random_uuid(), (SELECT account_id FROM parkway.files LIMIT 1), 'user_data', 'file ' || number || '.txt', 1, now()
       FROM generate_series(2, $1) AS number`,
      [LISTED],
    ),
  )
}

async function listAll(gateway: RunningContestant, limit: number): Promise<Omit<Listed, 'limit'>> {
  const pagesMs: number[] = []
  const allMs: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const beganMs = performance.now()
    let count = 0
    for (let after = ''; ;) {
      const pageBeganMs = performance.now()
      const query = after === '' ? `?limit=${limit}` : `?limit=${limit}&after=${after}`
      const answer = await fetch(urlOf(gateway, query), { headers: gateway.requestHeaders })
      const page = (await answer.json()) as { data: { id: string }[]; has_more: boolean }
      pagesMs.push(performance.now() - pageBeganMs)
      count += page.data.length
      after = page.data.at(-1)?.id ?? ''
      if (!page.has_more) break
    }
    if (count !== LISTED) throw new Error(`${count} files are listed instead of ${LISTED}`)
    allMs.push(performance.now() - beganMs)
  }
  return { pageMs: median(pagesMs), allMs: median(allMs) }
}

const urlOf = ({ port }: RunningContestant, rest = ''): string => `http://127.0.0.1:${port}/v1/files${rest}`

interface FilesSample {
  readonly up: Moved
  readonly down: Moved
  readonly pages: readonly Listed[]
}

function tabulate({ up, down, pages }: FilesSample): MetricRow[] {
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { [ID]: cell } })
  const moved = ({ seconds, addedMib }: Moved): string =>
    `${formatCount(FILE_MIB / seconds)} MiB/s, +${formatCount(addedMib)} MiB of memory`
  return [
    row(`upload of a file of ${FILE_MIB} MiB`, moved(up)),
    row('download of it', moved(down)),
    ...pages.map(({ limit, pageMs, allMs }) =>
      row(
        `${formatCount(LISTED)} files in pages of ${formatCount(limit)}`,
        `${pageMs.toFixed(0)} ms a page, ${allMs.toFixed(0)} ms in all`,
      ),
    ),
  ]
}

function judge({ up, down, pages }: FilesSample): Verdict[] {
  const slowestMs = Math.max(...pages.map(({ pageMs }) => pageMs))
  return [
    {
      target: `${ID}: a file of ${FILE_MIB} MiB takes at most ${GROWTH_MIB_MAX} MiB of memory, up and down`,
      measured: `+${formatCount(up.addedMib)} MiB, +${formatCount(down.addedMib)} MiB`,
      isMet: up.addedMib <= GROWTH_MIB_MAX && down.addedMib <= GROWTH_MIB_MAX,
    },
    {
      target: `${ID}: a page of up to ${formatCount(LISTED)} files within ${PAGE_MS_MAX} ms`,
      measured: `${slowestMs.toFixed(0)} ms`,
      isMet: slowestMs <= PAGE_MS_MAX,
    },
  ]
}
