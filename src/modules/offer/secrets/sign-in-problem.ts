import { readSignInDocument } from '../../../providers/sign-in/sign-in-document.ts'
import { vendorOf } from '../../../providers/vendors.ts'

/**
 * Returns why a credential cannot be used with the vendor, or null. A document that makes the gateway read files or ask addresses must
 * come from whoever runs the machine: by a reference, the environment or the configuration file.
 */
export function findSignInProblem(
  vendorId: string | null,
  secret: string,
  { isOfMachine }: { readonly isOfMachine: boolean },
): string | null {
  const kind = vendorId === null ? undefined : vendorOf(vendorId)?.signIn
  const document = kind === undefined ? null : readSignInDocument(secret)
  if (kind === undefined || document === null) return null
  const problem = kind.findProblem(document)
  if (problem !== null || isOfMachine || !kind.needsMachine(document)) return problem
  return 'a document of this type is given by a reference, in the environment or in the configuration file'
}
