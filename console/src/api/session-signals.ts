/** Other tabs of this browser, which share the session. */
const tabs = new BroadcastChannel('parkway-session')

/** Tells other tabs that the person has signed in or out. */
export function announceSessionChange(change: 'in' | 'out'): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target: only pages of this origin listen
  tabs.postMessage(change)
}

/** Calls back when the person signs in or out in another tab. Returns a function that stops it. */
export function handleSessionChange(handler: (change: 'in' | 'out') => void): () => void {
  const listen = ({ data }: MessageEvent): void => {
    if (data === 'in' || data === 'out') handler(data)
  }
  tabs.addEventListener('message', listen)
  return () => tabs.removeEventListener('message', listen)
}

type AskForKey = () => Promise<boolean>

let onSignedOut: () => void = () => {}
let askForKey: AskForKey = async () => false

/** Sets what happens when the API says that there is no session (any more). */
export function handleSignedOut(handler: () => void): void {
  onSignedOut = handler
}

export function announceSignedOut(): void {
  onSignedOut()
}

/** Sets how the person is asked for the key again. Resolves with false if they decline. */
export function handleConfirmation(handler: AskForKey): () => void {
  askForKey = handler
  return () => {
    if (askForKey === handler) askForKey = async () => false
  }
}

export function confirmKey(): Promise<boolean> {
  return askForKey()
}
