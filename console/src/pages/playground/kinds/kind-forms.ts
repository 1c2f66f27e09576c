import type { ModelCategory } from '../../../api/model-kinds.ts'

export interface FormFieldSpec {
  readonly name: string
  readonly label: string
  /** `lines`: a list, one item a line. */
  readonly type: 'text' | 'area' | 'number' | 'choice' | 'lines' | 'file' | 'flag'
  readonly isRequired?: boolean | undefined
  readonly initial?: string | undefined
  readonly choices?: readonly string[] | undefined
  /** The files that a browser offers. */
  readonly accept?: string | undefined
  readonly hint?: string | undefined
}

export interface KindForm {
  /** What the button says. */
  readonly action: string
  readonly path: string
  readonly fields: readonly FormFieldSpec[]
  /** The file that the code writes a binary answer to. */
  readonly savedAs?: string | undefined
  /** Another route, if this file is given. */
  readonly withFile?: { readonly name: string; readonly path: string } | undefined
}

const prompt: FormFieldSpec = { name: 'prompt', label: 'Prompt', type: 'area', isRequired: true }
const picture: FormFieldSpec = {
  name: 'image',
  label: 'Picture',
  type: 'file',
  accept: 'image/*',
  isRequired: true,
}
const duration: FormFieldSpec = { name: 'duration', label: 'Length, seconds', type: 'number' }

/** What each kind of model is asked for. */
export const KIND_FORMS: Readonly<Record<Exclude<ModelCategory, 'llm'>, KindForm>> = {
  image: {
    action: 'Make the picture',
    path: '/v1/images/generations',
    withFile: { name: 'image', path: '/v1/images/edits' },
    fields: [
      prompt,
      {
        ...picture,
        label: 'Picture to edit',
        isRequired: false,
        hint: 'Without one, a new picture is made. Paint over the part to change.',
      },
      { name: 'n', label: 'How many', type: 'number' },
      { name: 'size', label: 'Size', type: 'choice', choices: ['', '1024x1024', '1536x1024', '1024x1536'] },
      { name: 'quality', label: 'Quality', type: 'choice', choices: ['', 'low', 'medium', 'high'] },
    ],
  },
  upscale: {
    action: 'Enlarge',
    path: '/v1/images/upscale',
    fields: [picture, { name: 'scale', label: 'How many times', type: 'number', initial: '2' }],
  },
  bg_remove: { action: 'Remove the background', path: '/v1/images/bg-remove', fields: [picture] },
  video: {
    action: 'Make the video',
    path: '/v1/videos/generations',
    fields: [
      prompt,
      duration,
      { name: 'aspect_ratio', label: 'Shape', type: 'choice', choices: ['', '16:9', '9:16', '1:1'] },
      { name: 'negative_prompt', label: 'What to avoid', type: 'text' },
    ],
  },
  music: {
    action: 'Make the music',
    path: '/v1/audio/music',
    fields: [
      prompt,
      duration,
      { name: 'instrumental', label: 'Without a voice', type: 'flag' },
      { name: 'lyrics', label: 'Lyrics', type: 'area' },
    ],
  },
  tts: {
    action: 'Speak',
    path: '/v1/audio/speech',
    savedAs: 'speech.mp3',
    fields: [
      { name: 'input', label: 'Text', type: 'area', isRequired: true },
      { name: 'voice', label: 'Voice', type: 'text', initial: 'alloy' },
      { name: 'speed', label: 'Speed, times', type: 'number' },
      {
        name: 'response_format',
        label: 'Format',
        type: 'choice',
        choices: ['', 'mp3', 'wav', 'opus', 'flac'],
      },
    ],
  },
  stt: {
    action: 'Transcribe',
    path: '/v1/audio/transcriptions',
    fields: [
      { name: 'file', label: 'Recording', type: 'file', accept: 'audio/*,video/*', isRequired: true },
      { name: 'language', label: 'Language, such as "de"', type: 'text' },
      { name: 'prompt', label: 'Names and words to expect', type: 'text' },
    ],
  },
  embedding: {
    action: 'Embed and compare',
    path: '/v1/embeddings',
    fields: [
      {
        name: 'input',
        label: 'Texts, one a line',
        type: 'lines',
        isRequired: true,
        initial: 'A cat sat on the mat.\nA kitten rests on a rug.\nInterest rates rose again.',
      },
      { name: 'dimensions', label: 'Dimensions', type: 'number' },
    ],
  },
  rerank: {
    action: 'Rank',
    path: '/v1/rerank',
    fields: [
      { name: 'query', label: 'Question', type: 'text', isRequired: true, initial: 'What is a gateway?' },
      {
        name: 'documents',
        label: 'Documents, one a line',
        type: 'lines',
        isRequired: true,
        initial: 'Bread is baked.\nA gateway joins two networks.',
      },
    ],
  },
  moderation: {
    action: 'Check',
    path: '/v1/moderations',
    fields: [{ name: 'input', label: 'Text', type: 'area', isRequired: true }],
  },
}
