import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LaunchOrder } from '../gpu-driver.ts'
import { writeArguments, writeVariables } from './engine-arguments.ts'
import type { KubernetesSettings, KubernetesTierSettings } from './kubernetes-settings.ts'
import { writeDeployment, writeNetworkPolicy, writeSecret } from './write-manifests.ts'

const TIER: KubernetesTierSettings = {
  gpuName: 'H100',
  gpuCount: 2,
  memoryGb: 160,
  pricePerHourUsd: 5,
  region: null,
  count: 2,
  gpuResource: 'nvidia.com/gpu',
  cpu: 4,
  ramGb: 160,
  nodeSelector: { gpu: 'h100' },
  tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
}

const SETTINGS: KubernetesSettings = {
  namespace: 'engines',
  gatewayName: 'parkway',
  image: 'vllm/vllm-openai:v0.32.0',
  imagePullSecrets: [],
  runtimeClass: null,
  extraArguments: ['--enforce-eager'],
  environment: { LOG: 'warn' },
  accountVariables: ['SEED', 'LOG', 'HF_TOKEN'],
  port: 8_000,
  endpoint: 'http://{name}.{namespace}.svc:{port}/v1',
  cache: { kind: 'claim', claimName: 'models' },
  sharedMemoryGb: 8,
  userId: 2_000,
  scheduleTimeoutMs: 0,
  network: {
    gatewayNamespace: 'gateway',
    gatewayLabels: { app: 'parkway' },
    ingressCidrs: [],
    egressCidrs: [],
  },
  tiers: { h100_80gb_x2: TIER },
}

const ORDER: LaunchOrder = {
  instanceId: '019a8f00-0000-7000-8000-000000000001',
  tierId: 'h100_80gb_x2',
  huggingfaceId: 'Qwen/Qwen3-8B',
  revision: 'abc123',
  quantization: 'fp8',
  maxModelLen: 4096,
  hubToken: null,
  environment: {},
}

const write = (given: Partial<LaunchOrder> = {}) => writeArguments({ ...ORDER, ...given }, TIER, SETTINGS)

describe('the arguments of an engine', () => {
  test('contain the model, its revision, length, quantization and GPUs, and end with the arguments of the operator', () => {
    expect(write()).toEqual([
      'Qwen/Qwen3-8B',
      '--served-model-name=Qwen/Qwen3-8B',
      '--host=0.0.0.0',
      '--port=8000',
      '--revision=abc123',
      '--tokenizer-revision=abc123',
      '--max-model-len=4096',
      '--tensor-parallel-size=2',
      '--quantization=fp8',
      '--enforce-eager',
    ])
  })

  test('contain any model id as one argument, or are not written at all', () => {
    const hostile = fc.string({
      unit: fc.constantFrom(
        'a',
        '.',
        '/',
        '-',
        ' ',
        '\0',
        '$(HF_TOKEN)',
        '`id`',
        '\n',
        '"',
        "'",
        '..',
        '{{',
        ':',
      ),
      maxLength: 12,
    })
    fc.assert(
      fc.property(hostile, hostile, (huggingfaceId, revision) => {
        const argv = write({ huggingfaceId, revision })
        if (argv === null) return
        expect(argv).toHaveLength(10)
        expect(argv[0]).toMatch(/^a(?:[a.-]*|[a.-]*\/a[a.-]*)$/)
        expect(argv[4]).toMatch(/^--revision=a[a./-]*$/)
      }),
    )
  })

  test.each([
    { huggingfaceId: 'acme/tiny"\n--trust-remote-code' },
    { huggingfaceId: '--trust-remote-code' },
    { huggingfaceId: '../../etc/passwd' },
    { revision: 'main --trust-remote-code' },
    { quantization: 'fp8 --trust-remote-code' },
    { quantization: 'Q4_K_M' },
    { quantization: 'constructor' },
    { maxModelLen: Number.NaN },
    { maxModelLen: -1 },
  ])('are not written for %j', (given) => {
    expect(write(given)).toBeNull()
  })
})

describe('the variables of an engine', () => {
  const variables = (environment: Record<string, string>) =>
    writeVariables({ ...ORDER, environment }, SETTINGS, 'https://hub.example')

  test('contain only variables that the operator allows, and never replace those of the operator or the driver', () => {
    const written = variables({
      SEED: '7',
      LOG: 'debug',
      LD_PRELOAD: '/tmp/x.so',
      HOME: '/root',
      'A\nB': 'x',
    })
    expect(written.leftOut).toEqual(['LD_PRELOAD', 'HOME', 'A\nB'])
    expect(Object.fromEntries(written.variables.map(({ name, value }) => [name, value]))).toEqual({
      SEED: '7',
      LOG: 'warn',
      HF_ENDPOINT: 'https://hub.example',
      USER: 'engine',
      HOME: '/home/engine',
      HF_HOME: '/models',
    })
  })

  test('do not expand references to other variables', () => {
    const { variables: written } = variables({ SEED: '$(HF_TOKEN)' })
    expect(written.find(({ name }) => name === 'SEED')?.value).toBe('$$(HF_TOKEN)')
  })
})

describe('the objects of an instance', () => {
  const describeInstance = (given: object = {}) => {
    const { variables, leftOut } = writeVariables(
      { ...ORDER, environment: { HF_TOKEN: 'a' } },
      SETTINGS,
      null,
    )
    return JSON.stringify(
      writeDeployment({
        settings: SETTINGS,
        order: ORDER,
        tier: TIER,
        replicas: 1,
        refusal: null,
        launchedAtMs: 0,
        commandArguments: write() ?? [],
        variables,
        leftOut,
        tokenSecret: null,
        graceSeconds: 45,
        startSeconds: 1_800,
        ...given,
      }),
    )
  }

  test('give the pod no root, no privileges, no cluster token and no shell', () => {
    const pod = describeInstance()
    for (const part of [
      '"automountServiceAccountToken":false',
      '"runAsNonRoot":true',
      '"allowPrivilegeEscalation":false',
      '"readOnlyRootFilesystem":true',
      '"drop":["ALL"]',
      '"seccompProfile":{"type":"RuntimeDefault"}',
      '"terminationGracePeriodSeconds":45',
      '"nvidia.com/gpu":"2"',
      '"nodeSelector":{"gpu":"h100"}',
      '"persistentVolumeClaim":{"claimName":"models"}',
      '"medium":"Memory"',
      '"command":["vllm","serve"]',
    ])
      expect(pod).toContain(part)
    expect(pod).not.toMatch(/hostPath|hostNetwork|"sh"|bash/)
  })

  test('probe readiness at /v1/models and liveness at /health, with the start timeout of the gateway', () => {
    const pod = describeInstance()
    expect(pod).toContain('"startupProbe":{"httpGet":{"path":"/health","port":"http"}')
    expect(pod).toContain('"readinessProbe":{"httpGet":{"path":"/v1/models","port":"http"}')
    expect(pod).toContain('"livenessProbe":{"httpGet":{"path":"/health","port":"http"}')
    expect(pod).toContain('"failureThreshold":361')
  })

  test('contain the token only in the Secret, and an account cannot replace its variable', () => {
    const token = 'hf_secret'
    expect(describeInstance({ tokenSecret: 'the-secret' })).toContain(
      '{"name":"HF_TOKEN","valueFrom":{"secretKeyRef":{"name":"the-secret","key":"token"}}}',
    )
    expect(describeInstance({ tokenSecret: 'the-secret' }).match(/HF_TOKEN/g)).toHaveLength(1)
    const secret = writeSecret(SETTINGS, ORDER.instanceId, { ownerUid: 'uid', token })
    expect(secret).toMatchObject({
      data: { token: Buffer.from(token).toString('base64') },
      metadata: { ownerReferences: [{ kind: 'Deployment', uid: 'uid' }] },
    })
  })

  test('let only the gateway call engines, and engines call only name servers and public HTTPS', () => {
    const { spec } = JSON.parse(JSON.stringify(writeNetworkPolicy(SETTINGS)))
    expect(spec.ingress).toEqual([
      {
        from: [
          {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'gateway' } },
            podSelector: { matchLabels: { app: 'parkway' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: 8_000 }],
      },
    ])
    expect(spec.egress).toHaveLength(2)
    expect(spec.egress[1].to[0].ipBlock.except).toContain('169.254.0.0/16')
    expect(spec.egress[1].ports).toEqual([{ protocol: 'TCP', port: 443 }])
  })
})
