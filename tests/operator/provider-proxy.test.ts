import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMediaProvider } from '../../src/providers/create-provider.ts'
import { certificate } from '../../src/providers/openai-compatible/upstream-http1/testing/certificate.ts'
import { wavOf } from '../audio/audio-files.ts'
import { CHAT, chatBody, type ChatGateway } from '../chat/start-chat-gateway.ts'
import type { ConnectProxy } from '../upstreams/connect-proxy.ts'
import { imageWork, mediaCall } from '../upstreams/media/media-call.ts'
import { chunksOf, completion, json, stream } from '../upstreams/openai-server.ts'
import { OWN, PASSWORD, SECURE, startNetworkStage, type NetworkStage } from './network-stage.ts'

const PROVIDERS = '/v1/admin/providers'
const KEY = 'sk-proj-0123456789-wxyz'

let stage: NetworkStage
let gateway: ChatGateway
let proxy: ConnectProxy
let tlsProxy: ConnectProxy
let directory: string

beforeAll(async () => {
  stage = await startNetworkStage()
  ;({ gateway, proxy, tlsProxy, directory } = stage)
})
afterAll(() => stage.close())
afterEach(async () => {
  gateway.upstream.respondWith(completion())
  for (const { id, source } of (await gateway.request('GET', PROVIDERS)).body.data)
    if (source === 'database') await gateway.request('DELETE', `${PROVIDERS}/${id}`)
})

const signedIn = () => ({ url: proxy.url, username: 'gateway', password: PASSWORD })
const own = (members: object = {}) => ({
  name: 'own',
  api_key: KEY,
  base_url: `http://${OWN}/v1`,
  proxy: signedIn(),
  ...members,
})
const add = (body: object) => gateway.request('POST', PROVIDERS, { body })
const change = (name: string, body: object) => gateway.request('PATCH', `${PROVIDERS}/${name}`, { body })
const tryOut = (body: object) =>
  gateway.request('POST', `${PROVIDERS}/test`, { body: { ...body, upstream_model: 'm' } })
const ask = (model = 'own-model', members = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })

describe('a proxy', () => {
  test('carries answers, streams, forms, translated chat, media, lists and test calls', async () => {
    const added = await add(own())
    expect(added.body).toMatchObject({
      is_configured: true,
      proxy: { url: proxy.url, username: 'gateway', has_password: true, password_ref: null },
    })
    expect((await ask()).status).toBe(200)
    gateway.upstream.respondWith(stream(chunksOf('Hel', 'lo')))
    expect((await ask('own-model', { stream: true })).body).toContain('Hel')
    const form = new FormData()
    form.append('model', 'own-ear')
    form.append('file', new Blob([new Uint8Array(wavOf(1))]), 'a.wav')
    gateway.upstream.respondWith(json({ text: 'heard' }))
    await fetch(`${gateway.baseUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: form,
    })
    expect(gateway.upstream.requests.at(-1)?.path).toBe('/v1/audio/transcriptions')
    gateway.upstream.respondWith(json({ data: [{ id: 'gpt-x' }] }))
    expect((await gateway.request('GET', `${PROVIDERS}/own/models`)).body.data).toHaveLength(1)
    gateway.upstream.respondWith(completion())
    expect((await tryOut(own({ name: 'other' }))).body).toMatchObject({ is_ok: true })

    const claude = { name: 'claude', vendor: 'anthropic', base_url: 'http://claude.test/v1' }
    await add(own(claude))
    for (const members of [{}, { stream: true }])
      expect((await ask('claude-model', members)).status).toBe(200)

    const provider = createMediaProvider('fal', {
      apiKeys: ['id:secret'],
      baseUrl: 'http://fal.test',
      path: { proxy: signedIn() },
    })
    const started = await provider?.image?.start(mediaCall(imageWork(), 'fal-ai/flux/dev'))
    expect(started).toMatchObject({ kind: 'started' })

    expect(new Set(proxy.targets)).toEqual(new Set([OWN, 'claude.test:80', 'fal.test:80']))
    expect(new Set(proxy.credentials).size).toBe(1)
    const sent = gateway.upstream.requests.map(({ headers }) => Object.keys(headers)).flat()
    expect(sent.filter((name) => name.startsWith('proxy-'))).toEqual([])
  })

  test('one that is encrypted, and a host that is, are verified by the certificate authority', async () => {
    const secure = own({ base_url: `https://${SECURE}/v1`, proxy: { url: tlsProxy.url } })
    const refused = await tryOut(secure)
    expect(refused.body).toMatchObject({ is_ok: false, failure: 'connect' })
    expect(tlsProxy.targets).toEqual([])
    await writeFile(join(directory, 'secrets', 'ca.pem'), `Our own:\n${certificate}`)
    for (const authority of [certificate, `file:${join(directory, 'secrets', 'ca.pem')}`]) {
      const added = await add({ ...secure, certificate_authority: authority })
      expect([added.status, added.body.certificate_authority]).toEqual([201, authority])
      expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
      gateway.upstream.respondWith(stream(chunksOf('Hel', 'lo')))
      expect((await ask('own-model', { stream: true })).body).toContain('Hel')
      gateway.upstream.respondWith(completion())
      await gateway.request('DELETE', `${PROVIDERS}/own`)
    }
    const direct = own({ base_url: `https://127.0.0.1:${stage.tlsPort}/v1`, proxy: undefined })
    expect((await tryOut(direct)).body).toMatchObject({ is_ok: false, failure: 'connect' })
    const trusted = await tryOut({ ...direct, certificate_authority: certificate })
    expect(trusted.body).toMatchObject({ is_ok: true })
  })

  test('one that refuses or is away is a failure to connect, and its password is in no message', async () => {
    const wrong = await tryOut(own({ proxy: { ...signedIn(), password: 'wrong-password-1' } }))
    expect(wrong.body).toMatchObject({ is_ok: false, failure: 'connect' })
    expect(wrong.body.message).toContain('its proxy answered 407')
    expect(JSON.stringify(wrong.body)).not.toMatch(/wrong-password|127\.0\.0\.1/)
    const away = await tryOut(own({ proxy: { url: 'http://127.0.0.1:9' } }))
    expect(away.body).toMatchObject({ is_ok: false, failure: 'connect' })
    expect(JSON.stringify(away.body)).not.toContain('127.0.0.1')
  })

  test('is changed while requests run, and none of them fails', async () => {
    await add(own({ base_url: `https://${SECURE}/v1`, certificate_authority: certificate }))
    const over = new AbortController()
    const statuses: number[] = []
    const askOn = async (): Promise<void> => {
      while (!over.signal.aborted) statuses.push((await ask()).status)
    }
    const lanes = [askOn(), askOn(), askOn()]
    const credentials = [{ api_key: `${KEY}-2` }]
    for (const patch of [
      { proxy: { url: tlsProxy.url, username: null, password: null }, credentials },
      { timeouts: { connect_ms: 9_000 } },
      { proxy: signedIn(), credentials },
      { headers: { 'x-tenant': 'two' } },
    ]) {
      const before = statuses.length
      expect((await change('own', patch)).status).toBe(200)
      await expect.poll(() => statuses.length).toBeGreaterThan(before + 3)
    }
    over.abort()
    await Promise.all(lanes)
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  test.each([
    ['another protocol', { url: 'socks5://127.0.0.1:1080' }, 'proxy.url'],
    ['a password in its address', { url: 'http://a:b@127.0.0.1:3128' }, 'proxy.url'],
    ['a path', { url: 'http://127.0.0.1:3128/x' }, 'proxy.url'],
    ['the metadata of a cloud', { url: 'http://169.254.169.254' }, 'proxy.url'],
    ['no address', { username: 'x' }, 'proxy.url'],
    ['a line break', { username: 'a\r\nx: y' }, 'proxy.username'],
    ['a line break in the password', { password: 'a\r\nx: y' }, 'proxy.password'],
    ['a file elsewhere', { password: undefined, password_ref: 'file:/etc/passwd' }, 'proxy.password_ref'],
    ['two passwords', { password_ref: 'env:X' }, 'proxy'],
  ])('with %s is refused', async (name, members, param) => {
    const given = name === 'no address' ? members : { ...signedIn(), ...members }
    const { status, body } = await add(own({ proxy: given }))
    expect([status, body.error?.param]).toEqual([400, param])
    expect(JSON.stringify(body)).not.toContain(PASSWORD)
  })

  test('gets neither the password of another one, nor keys that it could read', async () => {
    const added = await add(own({ base_url: `https://${SECURE}/v1` }))
    const moved = await change('own', { proxy: { url: 'http://127.0.0.1:9' } })
    expect(moved.body.error).toMatchObject({ param: 'proxy.password' })
    // Over TLS the proxy reads nothing, unless the operator also says who is trusted.
    const elsewhere = { url: 'http://127.0.0.1:9', password: null }
    expect((await change('own', { proxy: elsewhere })).status).toBe(200)
    const trusting = await change('own', { certificate_authority: certificate })
    expect(trusting.body.error).toMatchObject({ param: 'proxy' })
    const [{ id }] = added.body.credentials
    const kept = await change('own', { certificate_authority: certificate, credentials: [{ id }] })
    expect(kept.body.error).toMatchObject({ param: 'proxy' })
    const renewed = { certificate_authority: certificate, credentials: [{ api_key: KEY }] }
    expect((await change('own', renewed)).status).toBe(200)
    expect((await change('own', { proxy: null })).body).toMatchObject({ proxy: null })
  })
})
