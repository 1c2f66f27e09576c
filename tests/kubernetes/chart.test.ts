import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from 'typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { removeDirectory } from '../support/remove-directory.ts'

const CHART = join(import.meta.dirname, '../../deploy/helm/parkway')
const defaults = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))

type Values = Record<string, unknown>

/** What several replicas need. */
const SHARED: Values = {
  database: { existingSecret: 'database' },
  sealingKey: { existingSecret: 'sealing' },
  settings: { MEDIA_STORE_URL: 's3://bucket' },
}

describe('the schema of the values', () => {
  test('takes the defaults', () => {
    expect([...Value.Errors(schema, defaults)]).toEqual([])
  })

  test.each([
    ['an unknown value', { replica: 3 }],
    ['an unknown value in a part', { database: { existingSecrets: 'x' } }],
    ['a text for a number', { replicas: '3' }],
    ['a setting that is no variable', { settings: { 'parkway-port': 1 } }],
    ['an unknown type of Service', { service: { type: 'Public' } }],
  ])('refuses %s', (_what, values) => {
    expect(Value.Check(schema, merge(defaults, values))).toBe(false)
  })
})

const hasGo = spawnSync('go', ['version']).status === 0

describe.skipIf(!hasGo)('the chart', () => {
  let directory: string
  let renderer: string

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'parkway-chart-'))
    renderer = join(directory, 'render')
    const source = join(import.meta.dirname, 'render-chart/main.go')
    const { status, stderr } = spawnSync('go', ['build', '-o', renderer, source], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
  afterAll(() => removeDirectory(directory))

  interface KubernetesObject {
    readonly kind: string
    readonly metadata: { readonly name: string; readonly labels: Record<string, string> }
    // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into objects and fail loudly on a wrong shape
    readonly spec: any
    // oxlint-disable-next-line typescript/no-explicit-any -- the same
    readonly data?: any
  }

  /** Returns the objects, or the message of the failure. */
  function render(values: Values): KubernetesObject[] | string {
    const merged = merge(defaults, values)
    expect([...Value.Errors(schema, merged)]).toEqual([])
    const root = {
      Values: merged,
      Release: { Name: 'gate', Namespace: 'prod', Service: 'Helm' },
      Chart: { Name: 'parkway', Version: '0.2.0', AppVersion: '0.1.0' },
    }
    const input = JSON.stringify({ directory: join(CHART, 'templates'), root })
    const { status, stdout, stderr } = spawnSync(renderer, { input, encoding: 'utf8' })
    if (status !== 0) return stderr
    return Object.entries(JSON.parse(stdout) as Record<string, string>)
      .filter(([name]) => name.endsWith('.yaml'))
      .flatMap(([, text]) =>
        parseAllDocuments(text).map((document) => {
          expect(document.errors).toEqual([])
          return document.toJS()
        }),
      )
      .filter(Boolean)
  }

  function install(values: Values = {}): KubernetesObject[] {
    const objects = render(values)
    if (typeof objects === 'string') throw new Error(objects)
    return objects
  }

  const find = (objects: readonly KubernetesObject[], kind: string, name = 'gate') =>
    objects.find((object) => object.kind === kind && object.metadata.name === name)
  const podOf = (objects: readonly KubernetesObject[], kind: string, name = 'gate') =>
    find(objects, kind, name)?.spec.template.spec
  const variables = (pod: { containers: { env: { name: string; value?: string }[] }[] }) =>
    Object.fromEntries(pod.containers[0]?.env.map(({ name, value }) => [name, value]) ?? [])

  test('is one pod with a volume of its own that survives it and may grow, by default', () => {
    const objects = install()
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      'PersistentVolumeClaim',
      'Secret',
      'Secret',
      'Service',
      'Service',
      'ServiceAccount',
      'StatefulSet',
    ])
    const set = find(objects, 'StatefulSet')
    expect(set?.spec.volumeClaimTemplates).toBeUndefined()
    expect(find(objects, 'Service', set?.spec.serviceName)?.spec.clusterIP).toBe('None')
    expect(podOf(objects, 'StatefulSet').volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'gate-data' },
    })
    expect(find(objects, 'PersistentVolumeClaim', 'gate-data')?.metadata).toMatchObject({
      annotations: { 'helm.sh/resource-policy': 'keep' },
    })
  })

  test('writes settings as the gateway reads them, however large a number is', () => {
    const settings = { A: 33_554_432, B: 0.5, C: true, D: 'text', E: ['x', 'y'], F: { g: 1_000_000 } }
    const objects = install({ settings, secretSettings: { G: 10_000_000 } })
    expect(variables(podOf(objects, 'StatefulSet'))).toMatchObject({
      A: '33554432',
      B: '0.5',
      C: 'true',
      D: 'text',
      E: '["x","y"]',
      F: '{"g":1000000}',
      PARKWAY_SHUTDOWN_DELAY_MS: '5000',
    })
    expect(Buffer.from(find(objects, 'Secret')?.data.G, 'base64').toString()).toBe('10000000')
  })

  test.each([
    ['database.existingSecret', { replicas: 2 }],
    ['one sealing key', { ...SHARED, replicas: 2, sealingKey: {} }],
    ['one bucket', { ...SHARED, replicas: 2, settings: {} }],
    ['database.existingSecret', { workers: { enabled: true } }],
    ['database.existingSecret', { autoscaling: { enabled: true } }],
    ['ingress.host', { ingress: { enabled: true } }],
  ])('says that %s is missing', (what, values) => {
    expect(render(values)).toContain(what)
  })

  test('runs several replicas and workers as workloads without a volume, each with its role', () => {
    const workers = { enabled: true, replicas: 3, resources: { limits: { memory: '1Gi' } } }
    const objects = install({ ...SHARED, replicas: 2, workers })
    expect(find(objects, 'StatefulSet')).toBeUndefined()
    expect(find(objects, 'PersistentVolumeClaim', 'gate-data')).toBeUndefined()
    expect(find(objects, 'Deployment')?.spec.replicas).toBe(2)
    expect(find(objects, 'Deployment', 'gate-worker')?.spec.replicas).toBe(3)
    expect(variables(podOf(objects, 'Deployment'))).toMatchObject({ PARKWAY_ROLE: 'api' })
    const worker = podOf(objects, 'Deployment', 'gate-worker')
    expect(variables(worker)).toMatchObject({ PARKWAY_ROLE: 'worker' })
    expect(worker.containers[0].resources).toEqual({ limits: { memory: '1Gi' } })
    for (const name of ['gate', 'gate-worker']) {
      const { selector, template } = find(objects, 'Deployment', name)?.spec ?? {}
      expect(template.metadata.labels).toMatchObject(selector.matchLabels)
    }
    // The Service has pods of the API only.
    expect(find(objects, 'Service')?.spec.selector).toMatchObject({
      'app.kubernetes.io/component': 'gateway',
    })
  })

  test('gives Prometheus the token that the gateway asks for', () => {
    const objects = install({
      metrics: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    })
    const { env } = podOf(objects, 'StatefulSet').containers[0]
    const { valueFrom } = env.find(({ name }: { name: string }) => name === 'PARKWAY_METRICS_TOKEN')
    const monitor = find(objects, 'ServiceMonitor')
    expect(monitor?.spec.endpoints[0].authorization.credentials).toEqual(valueFrom.secretKeyRef)
    expect(
      find(objects, 'Secret', valueFrom.secretKeyRef.name)?.data[valueFrom.secretKeyRef.key],
    ).toBeDefined()
    expect(find(objects, 'Service', 'gate-pods')?.metadata.labels).toMatchObject(
      monitor?.spec.selector.matchLabels,
    )
    const set = install({
      secretSettings: { PARKWAY_METRICS_TOKEN: 'token-of-mine' },
      metrics: { serviceMonitor: { enabled: true } },
    })
    const credentials = find(set, 'ServiceMonitor')?.spec.endpoints[0].authorization.credentials
    const secret = find(set, 'Secret', credentials?.name)
    expect(Buffer.from(secret?.data[credentials?.key], 'base64').toString()).toBe('token-of-mine')
    const own = install({ metrics: { existingSecret: 'mine' } })
    expect(find(own, 'Secret', 'gate-metrics')).toBeUndefined()
  })

  test('passes on what a company adds: variables, volumes, an authority, and where pods may run', () => {
    const objects = install({
      extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      extraEnvFrom: [{ configMapRef: { name: 'more' } }],
      extraVolumes: [{ name: 'catalog', configMap: { name: 'catalog' } }],
      extraVolumeMounts: [{ name: 'catalog', mountPath: '/etc/catalog' }],
      extraCa: { configMap: 'company-ca' },
      nodeSelector: { zone: 'a' },
      priorityClassName: 'high',
      podLabels: { team: 'platform' },
      persistence: { existingClaim: 'data-gate-0' },
    })
    const pod = podOf(objects, 'StatefulSet')
    expect(variables(pod)).toMatchObject({
      HTTPS_PROXY: 'http://proxy:3128',
      NODE_EXTRA_CA_CERTS: '/etc/parkway/ca/ca.crt',
    })
    expect(pod.containers[0].envFrom).toContainEqual({ configMapRef: { name: 'more' } })
    const mounts = pod.containers[0].volumeMounts.map(({ name }: { name: string }) => name)
    expect(mounts.toSorted()).toEqual(['catalog', 'data', 'extra-ca', 'temporary'])
    expect(pod.volumes.map(({ name }: { name: string }) => name).toSorted()).toEqual(mounts.toSorted())
    expect(pod).toMatchObject({ nodeSelector: { zone: 'a' }, priorityClassName: 'high' })
    expect(find(objects, 'PersistentVolumeClaim', 'gate-data')).toBeUndefined()
  })

  test('scales by load, keeps some pods, and is reached by an Ingress or a route of the Gateway API', () => {
    const objects = install({
      ...SHARED,
      autoscaling: { enabled: true, targetRequestsInFlight: 50 },
      podDisruptionBudget: { enabled: true, minAvailable: '50%' },
      networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }] },
      ingress: { enabled: true, host: 'ai.example.com', tlsSecret: 'tls', className: 'nginx' },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['ai.example.com'] },
    })
    expect(find(objects, 'Deployment')?.spec.replicas).toBeUndefined()
    const scaler = find(objects, 'HorizontalPodAutoscaler')?.spec
    expect(scaler).toMatchObject({ minReplicas: 2, maxReplicas: 10, scaleTargetRef: { kind: 'Deployment' } })
    expect(scaler.metrics[1].pods.target.averageValue).toBe('50')
    expect(find(objects, 'PodDisruptionBudget')?.spec.minAvailable).toBe('50%')
    expect(find(objects, 'NetworkPolicy')?.spec.ingress[0].from).toEqual([{ namespaceSelector: {} }])
    expect(find(objects, 'Ingress')?.spec.rules[0].host).toBe('ai.example.com')
    expect(find(objects, 'HTTPRoute')?.spec.rules[0].backendRefs[0]).toEqual({ name: 'gate', port: 80 })
  })

  test.each([
    ['one pod', {}],
    ['several', { ...SHARED, replicas: 2, workers: { enabled: true } }],
  ])('runs %s without root, rights, or a writable file system, and with bounded volumes', (_what, values) => {
    for (const object of install(values)) {
      const pod = object.spec?.template?.spec
      if (pod === undefined) continue
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      const [container] = pod.containers
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.resources.requests).toBeDefined()
      expect(pod.automountServiceAccountToken).toBe(false)
      expect(pod.topologySpreadConstraints).toHaveLength(1)
      for (const { emptyDir } of pod.volumes)
        if (emptyDir !== undefined) expect(emptyDir.sizeLimit).toBeDefined()
    }
  })
})

/** Merges values as Helm does. */
function merge(base: Values, over: Values): Values {
  const merged = { ...base }
  for (const [name, value] of Object.entries(over))
    merged[name] = isMap(value) && isMap(base[name]) ? merge(base[name], value) : value
  return merged
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
