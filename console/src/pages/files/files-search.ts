export const PURPOSES = [
  'user_data',
  'vision',
  'batch',
  'batch_output',
  'evals',
  'assistants',
  'fine-tune',
] as const

export interface FilesSearch {
  readonly purpose?: (typeof PURPOSES)[number] | undefined
  /** The file whose details are open. */
  readonly file?: string | undefined
}

export function readFilesSearch({ purpose, file }: Record<string, unknown>): FilesSearch {
  return {
    purpose: PURPOSES.find((one) => one === purpose),
    file: typeof file === 'string' && file.length <= 256 ? file : undefined,
  }
}
