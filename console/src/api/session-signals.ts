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
