import { CACHE_PATH, HOME_PATH } from './engine-arguments.ts'
import type { CacheVolume, KubernetesSettings, KubernetesTierSettings } from './kubernetes-settings.ts'

export interface PodOptions {
  readonly settings: KubernetesSettings
  readonly tier: KubernetesTierSettings
  readonly commandArguments: readonly string[]
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** Name of the Secret with the hub token, or null. */
  readonly tokenSecret: string | null
  readonly graceSeconds: number
  readonly startSeconds: number
}

export const ENGINE_CONTAINER = 'engine'
export const TOKEN_KEY = 'token'
const PROBE_SECONDS = 5

/** Writes the specification of an engine's pod. */
export function writePod(options: PodOptions): object {
  const { settings, tier, graceSeconds } = options
  const { userId } = settings
  return {
    automountServiceAccountToken: false,
    // Otherwise the environment would contain the addresses of all other services.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: graceSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      fsGroup: userId,
      // Otherwise the ownership of all files in a large cache is checked at every start.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(settings.runtimeClass === null ? {} : { runtimeClassName: settings.runtimeClass }),
    ...(settings.imagePullSecrets.length === 0
      ? {}
      : { imagePullSecrets: settings.imagePullSecrets.map((name) => ({ name })) }),
    ...(Object.keys(tier.nodeSelector).length === 0 ? {} : { nodeSelector: tier.nodeSelector }),
    ...(tier.tolerations.length === 0 ? {} : { tolerations: tier.tolerations }),
    containers: [writeContainer(options)],
    volumes: [
      {
        name: 'shared-memory',
        emptyDir: { medium: 'Memory', sizeLimit: `${settings.sharedMemoryGb}Gi` },
      },
      { name: 'home', emptyDir: {} },
      { name: 'temporary', emptyDir: {} },
      { name: 'models', ...toVolume(settings.cache) },
    ],
  }
}

function writeContainer(options: PodOptions): object {
  const { settings, commandArguments, variables, tokenSecret } = options
  const token = { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: tokenSecret, key: TOKEN_KEY } } }
  return {
    name: ENGINE_CONTAINER,
    image: settings.image,
    command: ['vllm', 'serve'],
    args: commandArguments,
    env: [...variables.filter(({ name }) => name !== token.name), ...(tokenSecret === null ? [] : [token])],
    ports: [{ name: 'http', containerPort: settings.port, protocol: 'TCP' }],
    ...writeProbes(options),
    resources: writeResources(options.tier, settings.cache),
    // Stores the last lines of a failed engine in the status of its pod.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'shared-memory', mountPath: '/dev/shm' },
      { name: 'home', mountPath: HOME_PATH },
      { name: 'temporary', mountPath: '/tmp' },
      { name: 'models', mountPath: CACHE_PATH },
    ],
  }
}

/** The startup probe allows at least as long as the gateway waits for a start. The others fail after three failures in a row. */
function writeProbes({ startSeconds }: PodOptions): object {
  const ask = (path: string) => ({
    httpGet: { path, port: 'http' },
    periodSeconds: PROBE_SECONDS,
    timeoutSeconds: PROBE_SECONDS,
    failureThreshold: 3,
  })
  return {
    startupProbe: { ...ask('/health'), failureThreshold: Math.ceil(startSeconds / PROBE_SECONDS) + 1 },
    readinessProbe: ask('/v1/models'),
    livenessProbe: { ...ask('/health'), periodSeconds: 2 * PROBE_SECONDS },
  }
}

function writeResources(
  { gpuResource, gpuCount, cpu, ramGb }: KubernetesTierSettings,
  cache: CacheVolume,
): object {
  // GPUs cannot be overcommitted. Memory is limited, because an engine could otherwise exhaust the memory of its node.
  const fixed = {
    memory: `${Math.ceil(ramGb * 1024)}Mi`,
    ...(gpuCount === 0 ? {} : { [gpuResource]: String(gpuCount) }),
  }
  // A node without the room would evict the engine while it downloads its model.
  const disk = cache.kind === 'empty' ? { 'ephemeral-storage': `${cache.sizeGb}Gi` } : {}
  return { requests: { cpu: `${Math.ceil(cpu * 1000)}m`, ...disk, ...fixed }, limits: fixed }
}

function toVolume(cache: CacheVolume): object {
  if (cache.kind === 'claim') return { persistentVolumeClaim: { claimName: cache.claimName } }
  if (cache.kind === 'host') return { hostPath: { path: cache.path, type: 'Directory' } }
  return { emptyDir: { sizeLimit: `${cache.sizeGb}Gi` } }
}
