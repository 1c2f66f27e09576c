import { loadTokenEncoding } from '../../kernel/tokens/token-encoding.ts'
import type { composeGateway } from '../compose.ts'

/**
 * Loads the program and the token vocabulary while the storage is opened. The vocabulary takes up to half a second, for which the
 * first requests of accounts with little credit would otherwise wait.
 */
export async function loadGateway(): Promise<typeof composeGateway> {
  const program = await import('../compose.ts')
  loadTokenEncoding()
  return program.composeGateway
}
