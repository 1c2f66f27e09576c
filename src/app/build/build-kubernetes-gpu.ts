import { openClusterAccess, type ClusterAccess } from '../../gpu/kubernetes/cluster-access.ts'
import { createClusterApi } from '../../gpu/kubernetes/cluster-api.ts'
import { isEngineEndpoint } from '../../gpu/kubernetes/engine-endpoint.ts'
import { createKubernetesDriver } from '../../gpu/kubernetes/kubernetes-driver.ts'
import { readKubeconfig } from '../../gpu/kubernetes/read-kubeconfig.ts'
import { readServiceAccount } from '../../gpu/kubernetes/read-service-account.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'
import type { BuiltDriver } from './built-driver.ts'

/** Added to the drain time of requests, so that an engine has time to free its GPUs. */
const GRACE_SECONDS_MORE = 15

/** Builds the driver for engines in a Kubernetes cluster. Throws `UsageError` for incomplete settings. */
export async function buildKubernetesDriver(
  config: Config,
  { clock, logger }: { clock: Clock; logger: GatewayLogger },
): Promise<BuiltDriver> {
  const { kubernetesGpu: settings } = config
  if (Object.keys(settings.tiers).length === 0)
    throw new UsageError('The GPU driver kubernetes needs tiers in PARKWAY_KUBERNETES_GPU.')
  const access = await openAccess(config.kubeconfig)
  const driver = createKubernetesDriver({
    api: createClusterApi(access),
    settings,
    clock,
    report: (problem, error) => logger.warn({ err: error }, problem),
    hubEndpoint: config.hfEndpoint,
    graceSeconds: Math.ceil(config.gpuDrainMs / 1_000) + GRACE_SECONDS_MORE,
    startSeconds: Math.ceil(config.gpuStartTimeoutMs / 1_000),
  })
  return {
    driver,
    isEndpoint: (endpoint) => isEngineEndpoint(settings, endpoint),
    close: async () => {
      await driver.close()
      await access.close()
    },
  }
}

async function openAccess(kubeconfig: string | null): Promise<ClusterAccess> {
  try {
    const configuration =
      kubeconfig === null ? readServiceAccount(process.env) : await readKubeconfig(kubeconfig, process.env)
    if (configuration !== null) return openClusterAccess(configuration)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    throw new UsageError(`The configuration of the cluster cannot be read: ${reason}.`)
  }
  throw new UsageError('The GPU driver kubernetes needs KUBECONFIG, or a pod of the cluster to run in.')
}
