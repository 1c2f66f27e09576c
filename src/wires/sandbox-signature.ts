/** Begins the signatures of the sandbox, which no vendor accepts. */
export const SANDBOX_SIGNATURE = 'sandbox_'

/** Whether a vendor can check this signature. Reasoning without one is not sent to vendors that require it. */
export function isVendorSignature(signature: unknown): signature is string {
  return typeof signature === 'string' && signature !== '' && !signature.startsWith(SANDBOX_SIGNATURE)
}
