import type { GpuDriver } from '../../gpu/gpu-driver.ts'

/** A driver and what the gateway needs to reach its engines. */
export interface BuiltDriver {
  readonly driver: GpuDriver
  /** Returns whether the driver can give this address to one of its engines. */
  isEndpoint(endpoint: string): boolean
  close?(): Promise<void>
}
