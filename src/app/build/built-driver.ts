import type { GpuDriver } from '../../gpu/gpu-driver.ts'

/** A driver and what the gateway needs to reach its engines. */
export interface BuiltDriver {
  readonly driver: GpuDriver
  isEndpoint(endpoint: string): boolean
  close?(): Promise<void>
}
