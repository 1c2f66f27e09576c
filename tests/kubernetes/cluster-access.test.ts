import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openClusterAccess, type ClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { createClusterApi } from '../../src/gpu/kubernetes/cluster-api.ts'
import type { ClusterConfiguration } from '../../src/gpu/kubernetes/cluster-configuration.ts'
import { readKubeconfig } from '../../src/gpu/kubernetes/read-kubeconfig.ts'
import { readServiceAccount } from '../../src/gpu/kubernetes/read-service-account.ts'
import {
  certificate,
  privateKey,
} from '../../src/providers/openai-compatible/upstream-http1/testing/certificate.ts'
import { createHttpProxy, createSocksProxy } from './forward-proxies.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** An API server that answers each request with what it learned about the caller. */
const server = createServer(
  { cert: certificate, key: privateKey, ca: certificate, requestCert: true, rejectUnauthorized: false },
  (incoming, response) => response.end(JSON.stringify(describeCaller(incoming))),
)

function describeCaller({ headers, socket }: IncomingMessage): object {
  const peer = (socket as TLSSocket).getPeerCertificate()
  return {
    authorization: headers.authorization ?? null,
    certificate: peer.subject?.CN ?? null,
    impersonated: headers['impersonate-user'] ?? null,
    serverName: (socket as TLSSocket & { servername?: string | false }).servername,
  }
}

let directory: string
let port: number
const opened: ClusterAccess[] = []
const base64 = (text: string) => Buffer.from(text).toString('base64')

beforeAll(async () => {
  port = await listen(server)
})
afterAll(() => closeAll(server))
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-kubeconfig-'))
})
afterEach(async () => {
  for (const access of opened.splice(0)) await access.close()
  await removeDirectory(directory)
})

describe('with a kubeconfig', () => {
  test.each([
    ['a token', { token: 'secret' }, { authorization: 'Bearer secret' }],
    [
      'a name and a password',
      { username: 'ann', password: 'pass' },
      { authorization: `Basic ${base64('ann:pass')}` },
    ],
    ['another user to act as', { token: 'secret', as: 'ann' }, { impersonated: 'ann' }],
    [
      'a client certificate in the file',
      { 'client-certificate-data': base64(certificate), 'client-key-data': base64(privateKey) },
      { certificate: 'parkway-test' },
    ],
    [
      'a client certificate beside the file',
      { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
      { certificate: 'parkway-test' },
    ],
    ['fields that are null', { token: 'secret', exec: null }, { authorization: 'Bearer secret' }],
    ['no credentials', {}, { authorization: null, certificate: null }],
  ])('the gateway authenticates by %s', async (_by, user, expected) => {
    await writeFile(join(directory, 'client.crt'), certificate)
    await writeFile(join(directory, 'client.key'), privateKey)
    expect(await ask(await fromKubeconfig({ user }))).toMatchObject(expected)
  })

  test('a token file is read again after its token was renewed', async () => {
    await writeFile(join(directory, 'token'), 'first\n')
    const access = await fromKubeconfig({ user: { tokenFile: 'token' } })
    expect(await ask(access)).toMatchObject({ authorization: 'Bearer first' })
    await writeFile(join(directory, 'token'), 'second\n')
    expect(await ask(access)).toMatchObject({ authorization: 'Bearer second' })
  })

  test('only the current context counts', async () => {
    const file = kubeconfigOf({ user: { token: 'secret' } })
    const other = { server: 'https://127.0.0.1:1' }
    const access = await open({
      ...file,
      clusters: [{ name: 'other', cluster: other }, ...file.clusters],
      users: [{ name: 'other', user: { token: 'other' } }, ...file.users],
      contexts: [{ name: 'other', context: { cluster: 'other', user: 'other' } }, ...file.contexts],
    })
    expect(await ask(access)).toMatchObject({ authorization: 'Bearer secret' })
  })

  test('a server is trusted only if its certificate is signed, or if the file says not to look', async () => {
    const unknown = { 'certificate-authority-data': undefined }
    await expect(ask(await fromKubeconfig({ cluster: unknown }))).rejects.toThrow('fetch failed')
    const insecure = { ...unknown, 'insecure-skip-tls-verify': true }
    expect(await ask(await fromKubeconfig({ cluster: insecure }))).toMatchObject({ authorization: null })
    await writeFile(join(directory, 'ca.crt'), certificate)
    const beside = { ...unknown, 'certificate-authority': 'ca.crt' }
    expect(await ask(await fromKubeconfig({ cluster: beside }))).toMatchObject({ authorization: null })
  })

  test('the name in the certificate may differ from the address', async () => {
    const named = await fromKubeconfig({ cluster: { 'tls-server-name': 'localhost' } })
    expect(await ask(named)).toMatchObject({ serverName: 'localhost' })
    const wrong = await fromKubeconfig({ cluster: { 'tls-server-name': 'other.example' } })
    await expect(ask(wrong)).rejects.toThrow('fetch failed')
  })

  test.each([
    ['that names no cluster', { contexts: [] }, 'names no cluster'],
    ['that names an unknown user', { users: [] }, 'no user gateway'],
    [
      'with a cluster without an address',
      { clusters: [{ name: 'test', cluster: {} }] },
      'clusters/0/cluster',
    ],
    [
      'with a login that only old programs had',
      { users: [{ name: 'gateway', user: { 'auth-provider': { name: 'gcp' } } }] },
      'use exec',
    ],
    [
      'with an address without encryption',
      { clusters: [{ name: 'test', cluster: { server: 'http://127.0.0.1' } }] },
      'not encrypted',
    ],
  ])('a file %s is refused when it is read', async (_which, changes, message) => {
    await expect(open({ ...kubeconfigOf({}), ...changes })).rejects.toThrow(message)
  })
})

describe('with a credential plugin', () => {
  test('its token is used until it expires, and the plugin gets the name of its interface', async () => {
    const access = await fromPlugin(`
      const runs = Number(fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : '0') + 1
      fs.writeFileSync(log, String(runs))
      const { apiVersion, spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO)
      const expirationTimestamp = new Date(Date.now() + (runs === 1 ? 0 : 3_600_000)).toISOString()
      print({ token: [process.env.PROFILE, apiVersion, spec.interactive, runs].join(' '), expirationTimestamp })
    `)
    const text = 'Bearer team client.authentication.k8s.io/v1 false'
    expect(await ask(access)).toMatchObject({ authorization: `${text} 1` })
    expect(await ask(access)).toMatchObject({ authorization: `${text} 2` })
    const answers = await Promise.all([ask(access), ask(access), ask(access)])
    for (const answer of answers) expect(answer).toMatchObject({ authorization: `${text} 2` })
  })

  test('concurrent requests run it once', async () => {
    const access = await fromPlugin(`fs.appendFileSync(log, 'x'); print({ token: 'shared' })`)
    await Promise.all([ask(access), ask(access), ask(access)])
    expect(await readFile(join(directory, 'log'), 'utf8')).toBe('x')
  })

  test('a client certificate that it prints is used', async () => {
    const status = { clientCertificateData: certificate, clientKeyData: privateKey }
    const access = await fromPlugin(`print(${JSON.stringify(status)})`)
    expect(await ask(access)).toMatchObject({ certificate: 'parkway-test' })
  })

  test('an error says what it wrote, never what it printed, and it is run again', async () => {
    const access = await fromPlugin(`
      if (fs.existsSync(log)) print({ token: 'secret' })
      else { fs.writeFileSync(log, ''); console.log('secret'); console.error('sign in first'); process.exitCode = 3 }
    `)
    const error: unknown = await ask(access).catch((reason: unknown) => reason)
    expect(String(error)).toContain('failed: sign in first')
    expect(String(error)).not.toContain('secret')
    expect(await ask(access)).toMatchObject({ authorization: 'Bearer secret' })
  })

  test('output that is no credential is refused without telling it', async () => {
    const error: unknown = await ask(await fromPlugin(`console.log('secret')`)).catch(
      (reason: unknown) => reason,
    )
    expect(String(error)).toContain('printed no ExecCredential')
    expect(String(error)).not.toContain('secret')
  })
})

test('in a pod, the service account is used and its token read again after it was renewed', async () => {
  await writeFile(join(directory, 'ca.crt'), certificate)
  await writeFile(join(directory, 'token'), 'first')
  const environment = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) }
  const access = keep(readServiceAccount(environment, directory))
  expect(await ask(access)).toMatchObject({ authorization: 'Bearer first' })
  await writeFile(join(directory, 'token'), 'second')
  expect(await ask(access)).toMatchObject({ authorization: 'Bearer second' })
  expect(readServiceAccount({ KUBERNETES_SERVICE_HOST: '::1' })?.server).toBe('https://[::1]:443')
  expect(readServiceAccount({})).toBeNull()
})

describe('through a proxy', () => {
  test.each(['http', 'socks5', 'socks5h'])(
    'through a proxy of the kind %s the server sees the credentials',
    async (kind) => {
      const targets: string[] = []
      const proxy = kind === 'http' ? createHttpProxy(targets) : createSocksProxy(targets)
      const proxyPort = await listen(proxy)
      const cluster = { 'proxy-url': `${kind}://127.0.0.1:${proxyPort}` }
      const access = await fromKubeconfig({ cluster, user: { token: 'secret' } })
      expect(await ask(access)).toMatchObject({ authorization: 'Bearer secret' })
      expect(targets).toEqual([`127.0.0.1:${port}`])
      await access.close()
      await closeAll(proxy)
    },
  )
})

interface Given {
  readonly cluster?: object
  readonly user?: object
}

const fromKubeconfig = (given: Given) => open(kubeconfigOf(given))

function kubeconfigOf({ cluster, user }: Given) {
  const trusted = { server: `https://127.0.0.1:${port}/`, 'certificate-authority-data': base64(certificate) }
  return {
    clusters: [{ name: 'test', cluster: { ...trusted, ...cluster } }],
    users: [{ name: 'gateway', user: user ?? {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'gateway' } }],
    'current-context': 'test',
  }
}

/** JSON is also YAML. */
async function open(kubeconfig: object): Promise<ClusterAccess> {
  const path = join(directory, 'kubeconfig')
  await writeFile(path, JSON.stringify(kubeconfig))
  return keep(await readKubeconfig(path, process.env))
}

function keep(configuration: ClusterConfiguration | null): ClusterAccess {
  if (configuration === null) throw new Error('there is no configuration')
  const access = openClusterAccess(configuration)
  opened.push(access)
  return access
}

async function fromPlugin(script: string): Promise<ClusterAccess> {
  const path = join(directory, 'plugin.cjs')
  const start = `const fs = require('fs'), log = ${JSON.stringify(join(directory, 'log'))}
    const print = (status) => console.log(JSON.stringify({ kind: 'ExecCredential', status }))\n`
  await writeFile(path, start + script)
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: [path],
    env: [{ name: 'PROFILE', value: 'team' }],
  }
  return fromKubeconfig({ user: { exec } })
}

const ask = (access: ClusterAccess) => createClusterApi(access).get('/version')

async function listen(listening: NetServer): Promise<number> {
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done))
  return (listening.address() as AddressInfo).port
}

async function closeAll(listening: NetServer | Server): Promise<void> {
  if ('closeAllConnections' in listening) listening.closeAllConnections()
  await new Promise((done) => listening.close(done))
}
