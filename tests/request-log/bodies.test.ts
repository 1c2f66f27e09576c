import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chatBody } from '../chat/start-chat-gateway.ts'
import { createProject, createProjectKey } from '../organization/join-account.ts'
import { chunksOf, completion, failure, stream } from '../upstreams/openai-server.ts'
import { startBodiesGateway, type BodiesGateway } from './start-bodies-gateway.ts'

let gateway: BodiesGateway

beforeAll(async () => {
  gateway = await startBodiesGateway()
})

afterEach(async () => {
  gateway.upstream.respondWith(async () => completion())
  await gateway.store({ enabled: false })
})

afterAll(async () => {
  await gateway.close()
})

const rowsStored = () => gateway.database.query<{ id: string }>('SELECT id FROM request_bodies')
const SECRET = 'The owl flies at midnight.'
const asking = (content: string) => ({ messages: [{ role: 'user', content }] })

describe('bodies', () => {
  test('are not stored unless it is switched on', async () => {
    const { requestId } = await gateway.ask()
    const { status, body } = await gateway.readBody(requestId)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect(body.error.message).toBe(
      'The body of this request is not stored. Bodies of this key are not stored.',
    )
    expect((await gateway.request('GET', `/v1/requests/${requestId}`)).body.body_stored).toBe(false)
    // A later request whose bodies are stored shows that nothing was waiting.
    await gateway.store({ enabled: true })
    await gateway.readStored((await gateway.ask()).requestId)
    expect(await rowsStored()).toHaveLength(1)
  })

  test('are stored as they were sent, encrypted, and read by their account', async () => {
    await gateway.store({ enabled: true, retention_days: 3 })
    const { text, requestId } = await gateway.ask(asking(SECRET))
    const stored = await gateway.readStored(requestId)
    const sent = JSON.stringify(chatBody(asking(SECRET)))
    expect(stored).toMatchObject({
      object: 'request.body',
      request_id: requestId,
      request: { text: sent, bytes: sent.length, cut: false },
      answer: { text, bytes: Buffer.byteLength(text), cut: false, assembled_text: null },
    })
    const inDays = (Date.parse(stored.expires_at) - Date.now()) / 86_400_000
    expect(Math.round(inDays)).toBe(3)
    expect((await gateway.request('GET', `/v1/requests/${requestId}`)).body.body_stored).toBe(true)

    const [row] = await gateway.database.query<{ request: Buffer; answer: Buffer }>(
      'SELECT request, answer FROM request_bodies',
    )
    for (const bytes of [row?.request, row?.answer])
      for (const plain of ['owl', 'messages', 'role', '\u001F\u008B'])
        expect(bytes?.includes(Buffer.from(plain, 'latin1'))).toBe(false)
  })

  test('bodies of streams are stored as they were sent, with their text', async () => {
    await gateway.store({ enabled: true })
    gateway.upstream.respondWith(async () => stream(chunksOf('Hello', ' there')))
    const { text, requestId } = await gateway.ask({ stream: true })
    const { answer } = await gateway.readStored(requestId)
    expect(answer).toMatchObject({ text, cut: false, assembled_text: 'Hello there' })
  })

  test('bodies of refused and failed requests are stored too', async () => {
    await gateway.store({ enabled: true })
    const refused = await gateway.ask({ model: 'no-such-model' })
    expect((await gateway.readStored(refused.requestId)).answer.text).toContain('model_not_found')
    gateway.upstream.respondWith(async () => failure(400, { message: 'upstream words' }))
    const failed = await gateway.ask()
    expect((await gateway.readStored(failed.requestId)).answer.text).toBe(failed.text)
  })

  test('are stored without media', async () => {
    await gateway.store({ enabled: true })
    const data = 'QUJD'.repeat(20_000)
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
    ]
    const { requestId } = await gateway.ask({ messages: [{ role: 'user', content }] })
    const { request } = await gateway.readStored(requestId)
    expect(request.text).not.toContain('QUJDQUJD')
    expect(request.text).toContain('data:image/png;base64,[80000 characters of media left out]')
    expect(JSON.parse(request.text).messages[0].content[0].text).toBe('What is this?')
    expect([request.bytes > 80_000, request.cut]).toEqual([true, false])
  })

  test('bodies that are large are cut with a mark', async () => {
    await gateway.store({ enabled: true })
    const { requestId } = await gateway.ask(asking('word ü '.repeat(1_400_000)))
    const { request } = await gateway.readStored(requestId)
    expect(request.bytes).toBeGreaterThan(10_000_000)
    expect(request.cut).toBe(true)
    expect(request.text.endsWith('…[cut]')).toBe(true)
    const kept = request.text.slice(0, -'…[cut]'.length)
    expect(Buffer.byteLength(kept)).toBeGreaterThan(16 * 1024 - 8)
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(16 * 1024)
    expect(kept).not.toContain('\uFFFD')
  })

  test('bodies of a project are read by its keys and by the account, and not by another project', async () => {
    await gateway.store({ enabled: true })
    const [ours, theirs] = [await createProject(gateway, 'Ours'), await createProject(gateway, 'Theirs')]
    const key = await createProjectKey(gateway, ours)
    const { requestId } = await gateway.ask(asking(SECRET), key)
    await gateway.readStored(requestId)
    expect((await gateway.readBody(requestId, key)).status).toBe(200)
    const refused = await gateway.readBody(requestId, await createProjectKey(gateway, theirs))
    expect([refused.status, refused.body.error.message]).toEqual([404, 'No such request.'])
    const { requestId: ofAccount } = await gateway.ask(asking(SECRET))
    await gateway.readStored(ofAccount)
    expect((await gateway.readBody(ofAccount, key)).status).toBe(404)
  })

  test('are not read by another account, nor with a key without the scope', async () => {
    await gateway.store({ enabled: true })
    const { requestId } = await gateway.ask(asking(SECRET))
    await gateway.readStored(requestId)
    const { body: account } = await gateway.request('POST', '/v1/admin/accounts', {
      body: { name: 'stranger' },
    })
    const { body: stranger } = await gateway.request('POST', `/v1/admin/accounts/${account.id}/api-keys`, {
      body: { scopes: ['inference', 'manage', 'admin'] },
    })
    const theirs = await gateway.readBody(requestId, stranger.key)
    expect([theirs.status, theirs.body.error.message]).toEqual([404, 'No such request.'])
    const admin = await gateway.request(
      'GET',
      `/v1/admin/requests/${requestId}/body?account_id=${account.id}`,
    )
    expect([admin.status, admin.body.error.message]).toEqual([404, 'No such request.'])
    const plain = await gateway.createKey(['inference'])
    expect((await gateway.readBody(requestId, plain.key)).status).toBe(403)
  })

  test('are read by operators, and that is in the audit log', async () => {
    await gateway.store({ enabled: true })
    const { requestId } = await gateway.ask(asking(SECRET))
    await gateway.readStored(requestId)
    const path = `/v1/admin/requests/${requestId}/body?account_id=${gateway.accountId}`
    expect((await gateway.request('GET', path)).body.request.text).toContain(SECRET)
    const manager = await gateway.createKey(['inference', 'manage'])
    expect((await gateway.request('GET', path, { key: manager.key })).status).toBe(403)
    const { body: audit } = await gateway.request('GET', '/v1/admin/audit?limit=1')
    expect(audit.data[0]).toMatchObject({
      action: 'request.read_body',
      target: { kind: 'request' },
      details: { account_id: gateway.accountId },
    })
  })

  test('cannot be moved to the row of another request', async () => {
    await gateway.store({ enabled: true })
    const [one, other] = [await gateway.ask(), await gateway.ask()]
    await gateway.readStored(one.requestId)
    await gateway.readStored(other.requestId)
    await gateway.database.query(
      'UPDATE request_bodies SET request = (SELECT request FROM request_bodies ORDER BY id LIMIT 1)',
    )
    expect((await gateway.readBody(one.requestId)).status).toBe(200)
    const moved = await gateway.readBody(other.requestId)
    expect([moved.status, moved.body.error.code]).toEqual([404, 'not_found'])
  })
})

describe('stored bodies are deleted', () => {
  test('at once when they are switched off', async () => {
    await gateway.store({ enabled: true })
    await gateway.readStored((await gateway.ask()).requestId)
    await gateway.store({ enabled: false })
    expect(await rowsStored()).toEqual([])
  })

  test('stored bodies are deleted and not readable from the moment when their key is revoked', async () => {
    await gateway.store({ enabled: true })
    const key = await gateway.createKey(['inference'])
    const { requestId } = await gateway.ask({}, key.key)
    await gateway.readStored(requestId)
    await gateway.request('DELETE', `/v1/tenants/me/api-keys/${key.id}`)
    expect((await gateway.readBody(requestId)).status).toBe(404)
  })

  test('stored bodies are deleted and not readable from the moment when their retention has passed', async () => {
    await gateway.store({ enabled: true })
    const { requestId } = await gateway.ask()
    await gateway.readStored(requestId)
    await gateway.database.query('UPDATE request_bodies SET expires_at = now()')
    const { status, body } = await gateway.readBody(requestId)
    expect([status, body.error.message]).toEqual([404, expect.stringContaining('its retention has passed')])
  })
})
