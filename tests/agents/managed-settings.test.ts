import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createProject, createProjectKey, joinAccount, type Person } from '../organization/join-account.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { createStranger } from '../compare/start-compare-gateway.ts'

let gateway: TestGateway
let person: Person
let names = 0

beforeAll(async () => {
  gateway = await startTestGateway()
  person = await joinAccount(gateway, { email: 'grace@example.com' })
})

afterAll(() => gateway.close())

const AT = '/v1/organization/managed_settings'

beforeEach(async () => {
  const { body } = await gateway.request('GET', AT)
  for (const { id } of body.data) await gateway.request('DELETE', `${AT}/${id}`)
})

const set = (body: object) => gateway.request('POST', AT, { body })
const own = (headers: Record<string, string> = {}) =>
  gateway.request('GET', '/managed/settings', { key: null, headers: { ...person.headers, ...headers } })

async function groupWith(userId: string): Promise<string> {
  names += 1
  const { body } = await gateway.request('POST', '/v1/organization/groups', { body: { name: `G${names}` } })
  await gateway.request('POST', `/v1/organization/groups/${body.id}/users`, { body: { user_id: userId } })
  return String(body.id)
}

describe('the managed settings of a person', () => {
  test('are 404 in Anthropic’s form where there is no policy, and empty where the policy is', async () => {
    const none = await own()
    expect([none.status, none.body]).toEqual([
      404,
      {
        type: 'error',
        error: expect.objectContaining({ type: 'not_found_error', code: 'not_found' }),
        request_id: expect.any(String),
      },
    ])
    await set({ settings: {} })
    const { status, body } = await own()
    // SHA-256 of `{}`, as Claude Code computes it.
    const checksum = 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    expect([status, body]).toEqual([200, { uuid: checksum, checksum, settings: {} }])
  })

  test('are not sent again to whoever has them', async () => {
    await set({ settings: { model: 'claude-sonnet-5' } })
    const first = await own()
    const tag = first.headers.get('etag') ?? ''
    expect([tag, first.headers.get('cache-control')]).toEqual([
      `"${first.body.checksum}"`,
      'private, no-cache',
    ])
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*', first.body.checksum]) {
      const { status, body, headers } = await own({ 'if-none-match': known })
      expect([status, body, headers.get('etag')]).toEqual([304, '', tag])
    }
    await set({ settings: { model: 'claude-opus-5' } })
    const changed = await own({ 'if-none-match': tag })
    expect([changed.status, changed.body.settings]).toEqual([200, { model: 'claude-opus-5' }])
  })

  test('are those of everybody, and over them those of the groups in their order', async () => {
    const [weak, strong, foreign] = [
      await groupWith(person.id),
      await groupWith(person.id),
      await groupWith((await joinAccount(gateway, { email: `other${names}@example.com` })).id),
    ]
    await set({ settings: { model: 'base', env: { A: 'base', B: 'base' }, permissions: { deny: ['Bash'] } } })
    await set({
      group_id: strong,
      priority: 1,
      settings: { model: 'strong', permissions: { deny: ['Read'] } },
    })
    await set({ group_id: weak, priority: 2, settings: { model: 'weak', env: { B: 'weak' } } })
    await set({ group_id: foreign, priority: 1, settings: { model: 'foreign' } })
    expect((await own()).body.settings).toEqual({
      model: 'strong',
      env: { A: 'base', B: 'weak' },
      permissions: { deny: ['Bash', 'Read'] },
    })
    const preview = await gateway.request('GET', `/v1/organization/users/${person.id}/managed_settings`)
    const { body: list } = await gateway.request('GET', AT)
    const idOf = (group: string | null) =>
      list.data.find(({ group_id: of }: { group_id: string | null }) => of === group).id
    expect(preview.body).toEqual({
      object: 'organization.user.managed_settings',
      user_id: person.id,
      settings: (await own()).body.settings,
      managed_settings_ids: [idOf(null), idOf(weak), idOf(strong)],
    })
    // A key of the account is in no group.
    const ofAccount = await gateway.request('GET', '/managed/settings')
    expect(ofAccount.body.settings.model).toBe('base')
    await gateway.request('DELETE', `/v1/organization/groups/${strong}/users/${person.id}`)
    expect((await own()).body.settings.model).toBe('weak')
    await gateway.request('DELETE', `/v1/organization/groups/${weak}`)
    expect((await own()).body.settings.model).toBe('base')
  })

  test('are previewed for members of the account only, also where there are none', async () => {
    const preview = (key: string, id: string) =>
      gateway.request('GET', `/v1/organization/users/${id}/managed_settings`, { key })
    const { body } = await preview(gateway.key, person.id)
    expect(body).toMatchObject({ settings: null, managed_settings_ids: [] })
    expect((await preview(await createStranger(gateway), person.id)).status).toBe(404)
    expect((await preview(gateway.key, `user-${'0'.repeat(32)}`)).status).toBe(404)
    expect((await preview(gateway.key, 'grace')).status).toBe(404)
  })

  test('need a key', async () => {
    const { status, body } = await gateway.request('GET', '/managed/settings', { key: null })
    expect([status, body.type, body.error.type]).toEqual([401, 'error', 'authentication_error'])
  })
})

describe('whoever sets them', () => {
  test('sees them in their order, changes one, and deletes it', async () => {
    const group = await groupWith(person.id)
    const { body: ofGroup } = await set({ group_id: group, priority: 7, settings: { a: 1 } })
    const { body: ofAll } = await set({ settings: { b: 1 } })
    expect((await gateway.request('GET', AT)).body.data).toEqual([ofAll, ofGroup])
    expect(ofGroup).toMatchObject({ object: 'organization.managed_settings', group_id: group, priority: 7 })
    const { body: again } = await set({ group_id: group, settings: { a: 2 } })
    expect(again).toMatchObject({ id: ofGroup.id, priority: 7, settings: { a: 2 } })
    const { body: deleted } = await gateway.request('DELETE', `${AT}/${ofGroup.id}`)
    expect(deleted).toEqual({
      object: 'organization.managed_settings.deleted',
      id: ofGroup.id,
      deleted: true,
    })
    expect((await gateway.request('DELETE', `${AT}/${ofGroup.id}`)).status).toBe(404)
  })

  test.each([
    ['a list', [], 400],
    ['a text', 'x', 400],
    ['nothing', null, 400],
    ['more than 32 KiB', { text: 'x'.repeat(33_000) }, 400],
    ['more than the body may have', { text: 'x'.repeat(200_000) }, 413],
  ])('gets an error for %s', async (_name, settings, status) => {
    expect((await set({ settings })).status).toBe(status)
    expect((await own()).status).toBe(404)
  })

  test('must manage the account', async () => {
    const { status } = await person.request('POST', AT, { settings: {} })
    expect(status).toBe(403)
    const projectKey = await createProjectKey(gateway, await createProject(gateway))
    expect((await gateway.request('POST', AT, { key: projectKey, body: { settings: {} } })).status).toBe(403)
  })

  test('must confirm who they are in a session', async () => {
    const owner = await joinAccount(gateway, { email: `owner${names}@example.com`, role: 'owner' })
    const { status, body } = await owner.request('POST', AT, { settings: {} })
    if (status !== 200) expect([status, body.error.code]).toEqual([403, 'confirmation_required'])
  })

  test('is in the account of the group', async () => {
    const stranger = await createStranger(gateway)
    const { body: theirs } = await gateway.request('POST', '/v1/organization/groups', {
      key: stranger,
      body: { name: 'Theirs' },
    })
    expect((await set({ group_id: theirs.id, settings: {} })).status).toBe(404)
    const { body: mine } = await set({ settings: { secret: 1 } })
    const at = { key: stranger }
    expect((await gateway.request('GET', AT, at)).body.data).toEqual([])
    expect((await gateway.request('DELETE', `${AT}/${mine.id}`, at)).status).toBe(404)
    expect((await gateway.request('GET', '/managed/settings', at)).status).toBe(404)
  })
})
