import type { GpuDriver, GpuSample } from '../../../gpu/gpu-driver.ts'
import type { Queryable } from '../../../storage/database.ts'

/** Reads the load of the GPUs of deployments, by deployment id. Deployments without figures are missing. */
export type ReadGpus = (deploymentIds: readonly string[]) => Promise<ReadonlyMap<string, GpuSample>>

interface ReaderOptions {
  readonly database: Queryable
  readonly gpus: { readonly drivers: readonly Pick<GpuDriver, 'id' | 'sampleGpus'>[] }
}

/** Creates the reader. It reads nothing from the database if no driver measures its GPUs. */
export function createGpuReader({ database, gpus }: ReaderOptions): ReadGpus {
  const samplers = new Map(gpus.drivers.map((driver) => [driver.id, driver.sampleGpus]))
  const canMeasure = [...samplers.values()].some((sample) => sample !== undefined)
  return async (deploymentIds) => {
    const samples = new Map<string, GpuSample>()
    if (!canMeasure) return samples
    const runs = await database.query<{ id: string; deployment_id: string; driver: string }>(
      `SELECT runs.id, deployment_id, driver FROM deployment_runs runs JOIN deployments ON deployments.id = deployment_id
       WHERE deployment_id = ANY ($1::uuid[]) AND released_at IS NULL`,
      [deploymentIds],
    )
    for (const [driverId, own] of Map.groupBy(runs, ({ driver }) => driver)) {
      const sample = samplers.get(driverId)
      // A failing driver is reported where its capacity is read. Here it only has no figures.
      const sampled = await sample?.(own.map(({ id }) => id)).catch(() => null)
      for (const { id, deployment_id: deploymentId } of own) {
        const found = sampled?.get(id)
        if (found !== undefined) samples.set(deploymentId, found)
      }
    }
    return samples
  }
}
