import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { openConsole, type OpenConsole, type OpenConsoleOptions } from './open-console.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'

export interface VirtualAuthenticator {
  /** Whether it checks who uses it, as with a fingerprint. */
  setVerified(isVerified: boolean): Promise<void>
  /** How many passkeys it holds. */
  count(): Promise<number>
  /** Moves its passkeys to the authenticator of another browser, as a maker of devices does. */
  copyTo(other: VirtualAuthenticator): Promise<void>
  readonly session: CDPSession
  readonly id: string
}

/** Gives a page a device that makes passkeys. */
async function addAuthenticator(context: BrowserContext, page: Page): Promise<VirtualAuthenticator> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId: id } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const list = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials
  return {
    session,
    id,
    setVerified: async (isUserVerified) => {
      await session.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified })
    },
    count: async () => (await list()).length,
    copyTo: async (other) => {
      for (const credential of await list())
        await other.session.send('WebAuthn.addCredential', { authenticatorId: other.id, credential })
    },
  }
}

/** Opens the console at the name `localhost`, because browsers make no passkeys for an IP address. */
export async function openNamedConsole(
  gateway: Pick<TestGateway, 'baseUrl' | 'key'>,
  options: OpenConsoleOptions = {},
): Promise<OpenConsole & { readonly device: VirtualAuthenticator; readonly baseUrl: string }> {
  const baseUrl = gateway.baseUrl.replace('127.0.0.1', 'localhost')
  const opened = await openConsole({ key: gateway.key, baseUrl }, { key: null, ...options })
  const device = await addAuthenticator(opened.context, opened.page)
  return { ...opened, device, baseUrl }
}
