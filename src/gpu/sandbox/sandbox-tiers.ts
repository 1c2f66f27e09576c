import { nanoUsdFromUsd } from '../../kernel/money.ts'
import type { GpuTier } from '../gpu-driver.ts'

/** A simulated tier and its number of machines. */
export type SandboxTier = Omit<GpuTier, 'availableCount'> & { readonly machineCount: number }

/** Prices are in the range of GPU clouds. A tier with several GPUs costs a multiple of the single one. */
export const SANDBOX_TIERS: readonly SandboxTier[] = [
  tier('l4_24gb', 'NVIDIA L4', 1, 24, 0.8, 8),
  tier('rtx4090_24gb', 'NVIDIA RTX 4090', 1, 24, 0.69, 8),
  tier('l40s_48gb', 'NVIDIA L40S', 1, 48, 1.95, 6),
  tier('a100_80gb', 'NVIDIA A100 80GB', 1, 80, 2.5, 4),
  tier('h100_80gb', 'NVIDIA H100', 1, 80, 3.95, 4),
  tier('h200_141gb', 'NVIDIA H200', 1, 141, 4.54, 4),
  tier('h100_80gb_x2', 'NVIDIA H100', 2, 160, 7.9, 2),
  tier('h100_80gb_x4', 'NVIDIA H100', 4, 320, 15.8, 2),
  tier('h100_80gb_x8', 'NVIDIA H100', 8, 640, 31.6, 1),
]

function tier(
  id: string,
  gpuName: string,
  gpuCount: number,
  vramGb: number,
  pricePerHourUsd: number,
  machineCount: number,
): SandboxTier {
  return {
    id,
    gpuName,
    gpuCount,
    vramGb,
    pricePerHourNanoUsd: nanoUsdFromUsd(pricePerHourUsd),
    region: null,
    machineCount,
  }
}
