import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../../cli/verify-bill/hashes.ts'
import { verifyBill } from '../../cli/verify-bill/verify-bill.ts'
import { createId, requestIdOf } from '../../src/kernel/identifiers.ts'
import { leafOf } from '../../src/modules/receipts/leaf.ts'
import { MerkleTree } from '../../src/modules/receipts/merkle-tree.ts'
import { createHome, type Home } from '../cli/run-parkway.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const DAY_MS = 86_400_000
const COST = 7n
const OWN = generateKeyPairSync('ed25519')

let directory: string
let home: Home
let bills = 0

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bills-'))
  home = await createHome()
})
afterAll(async () => {
  await home.remove()
  await removeDirectory(directory)
})

const recordOf = (day: string, labels: string[] = []) => {
  const id = createId(Date.parse(day) + 3_600_000)
  const line = JSON.stringify({
    request_id: requestIdOf(id),
    account_id: 'a',
    cost_nano_usd: String(COST),
    labels,
  })
  return { id, day, line }
}
type Signed = ReturnType<typeof recordOf>

interface BillOptions {
  readonly saved?: readonly Signed[]
  readonly month?: string
  readonly keyPair?: typeof OWN
}

/** Writes a bill with a receipt for each record, which was issued some days after it. */
async function writeBill(
  signed: readonly Signed[],
  { saved = signed, month, keyPair = OWN }: BillOptions = {},
): Promise<string> {
  bills += 1
  const { privateKey, publicKey } = keyPair
  const keys = [{ id: 'k', public_key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') }]
  const folder = await mkdtemp(join(directory, `${bills}-`))
  let previous: string | null = null
  const receipts = signed.map(({ id, day, line }, index) => {
    const tree = new MerkleTree()
    tree.add(leafOf(id, line))
    const statement = JSON.stringify({
      account_id: 'a',
      number: index + 1,
      day,
      records: 1,
      cost_nano_usd: String(COST),
      root: tree.root(),
      previous,
      key_id: 'k',
      issued_at: new Date(Date.parse(day) + 2 * DAY_MS).toISOString(),
    })
    previous = sha256(statement)
    return { statement, signature: sign(null, Buffer.from(statement), privateKey).toString('base64') }
  })
  const lines = saved.map(({ line }) => `${line}\n`).join('')
  await writeFile(join(folder, 'keys.json'), JSON.stringify(keys))
  await writeFile(join(folder, 'receipts.jsonl'), receipts.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await writeFile(join(folder, 'records.jsonl'), lines)
  if (month !== undefined) await writeFile(join(folder, 'month.txt'), `${month}\n`)
  return folder
}

async function problemsOf(folder: string, earlier: string | null = null): Promise<string[]> {
  const problems: string[] = []
  const onProblem = (problem: string): void => void problems.push(problem)
  await verifyBill({ folder, answers: null, earlier, trustedKeys: [], onProblem })
  return problems
}

test('a month without any record or hash is named, although its receipts are whole', async () => {
  const records = [recordOf('2026-10-01'), recordOf('2026-10-02'), recordOf('2026-11-05')]
  const folder = await writeBill(records, { saved: [], month: '2026-10' })
  expect(await problemsOf(folder)).toEqual([
    'all 1 records of receipt 1 of 2026-10-01 are missing',
    'all 1 records of receipt 2 of 2026-10-02 are missing',
  ])
})

test('a record on a day without a receipt is named when no receipt can come any more', async () => {
  const signed = [recordOf('2026-08-01'), recordOf('2026-10-01')]
  const [first, last] = signed as [Signed, Signed]
  const added = recordOf('2026-08-02')
  expect(await problemsOf(await writeBill(signed, { saved: [first, added, last] }))).toEqual([
    expect.stringContaining(`${requestIdOf(added.id)} was added: 2026-08-02 has no receipt`),
  ])
  const [before, late] = [recordOf('2026-07-31'), recordOf('2026-09-28')]
  expect(await problemsOf(await writeBill(signed, { saved: [before, first, late, last] }))).toEqual([])
})

test('receipts that were signed anew with another key do not agree with those that were saved earlier', async () => {
  const [first, later] = [recordOf('2026-10-01'), recordOf('2026-11-01')]
  const earlier = await writeBill([first])
  expect(await problemsOf(await writeBill([first, later]), earlier)).toEqual([])
  const forged = await writeBill([first, later], { keyPair: generateKeyPairSync('ed25519') })
  expect(await problemsOf(forged, earlier)).toEqual(['key k is not the one that was saved earlier'])
})

test('a label with a line separator of Unicode does not break a record', async () => {
  const record = recordOf('2026-10-01', ['tag:a=b\u2028c\u2029d'])
  expect(await problemsOf(await writeBill([record]))).toEqual([])
})

test('a gateway chooses no path where the hashes of a receipt are saved', async () => {
  const receipt = {
    id: 'receipt_1',
    number: '/../../stolen',
    day: '2026-10-01',
    statement: '{}',
    signature: '',
  }
  const server = createServer((request, response) => {
    const isList = request.url?.startsWith('/v1/organization/receipts?') === true
    const answer = { object: 'list', data: isList ? [receipt] : [], has_more: false }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const environment = {
    PARKWAY_API_KEY: 'sk-x',
    PARKWAY_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  const folder = join(directory, 'hostile', 'bill')
  const saved = await home.run(['receipts', 'save', '2026-10', '-o', folder], { environment })
  server.closeAllConnections()
  server.close()
  expect([saved.code, saved.stderr]).toEqual([1, expect.stringContaining('a receipt without a number')])
})
