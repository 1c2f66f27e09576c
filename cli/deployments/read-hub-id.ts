import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** A model of the hub as a person names it. */
export interface HubModelName {
  readonly id: string
  /** The branch, tag or commit of a copied address. Null if it names none, or the usual one. */
  readonly revision: string | null
}

const ADDRESS = /^(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\//i
const MODEL = /^([\w.-]+\/[\w.-]+)(?:\/(?:tree|blob|resolve|raw|commit)\/([^/?#]+))?(?:[/?#].*)?$/
const OTHER_KINDS = /^(?:datasets|spaces|docs|collections|papers)\//

/** Reads the id of a model, or the address of one of its pages. Throws for a page that is no model's. */
export function readHubId(text: string): HubModelName {
  const trimmed = text.trim()
  if (!ADDRESS.test(trimmed)) return { id: trimmed, revision: null }
  const path = trimmed.replace(ADDRESS, '')
  const found = OTHER_KINDS.test(path) ? null : MODEL.exec(path)
  const id = found?.[1]
  if (id === undefined)
    throw new CommandFailure(
      EXIT.usage,
      `"${trimmed}" is not the page of a model.`,
      'Give its id, such as Qwen/Qwen3-8B.',
    )
  const revision = found?.[2] ?? 'main'
  return { id, revision: revision === 'main' ? null : decodeURIComponent(revision) }
}
