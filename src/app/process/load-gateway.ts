import { loadTokenEncoding } from '../../kernel/token-encoding.ts'
import type { composeGateway } from '../compose.ts'

/**
 * Loads the program while its storage is opened. The vocabulary for counting tokens is part of it: it takes up to half a
 * second, for which the first requests of a nearly empty account would otherwise wait.
 */
export async function loadGateway(): Promise<typeof composeGateway> {
  const program = await import('../compose.ts')
  loadTokenEncoding()
  return program.composeGateway
}
