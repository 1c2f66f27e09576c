import { describe, expect, test } from 'vitest'
import { sampleFile } from '../../modules/media/testing/sample-files.ts'
import { MistakenPart, readMediaPart, type MediaPart } from './read-media-part.ts'

const uri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const image = (url: string): MediaPart => ({ type: 'image_url', image_url: { url } })
const video = (url: string): MediaPart => ({ type: 'video_url', video_url: { url } })
const audio = (data: string, format = 'mp3'): MediaPart => ({
  type: 'input_audio',
  input_audio: { data, format },
})
const file = (data: string, filename?: string): MediaPart => ({
  type: 'file',
  file: { file_data: data, ...(filename === undefined ? {} : { filename }) },
})

const PDF = Buffer.from('%PDF-1.7\n')
const PNG = sampleFile('png')
const ZIP = Buffer.from('PK\x03\x04', 'latin1')
const UNKNOWN = Buffer.alloc(12)

describe('a part', () => {
  test.each<[string, MediaPart, string | null, string]>([
    ['a picture', image(uri('image/png', PNG)), 'image', 'image/png'],
    ['a picture without a type', image(uri('', PNG)), 'image', 'image/png'],
    ['a picture of an unknown format', image(uri('image/new', UNKNOWN)), 'image', 'image/new'],
    ['a picture that is not in base64', image('data:image/svg+xml,%3Csvg%2F%3E'), 'image', 'image/svg+xml'],
    ['a picture at an address', image('https://example.com/cat'), 'image', 'image/jpeg'],
    ['a picture at an address with a name', image('HTTPS://example.com/cat.PNG?x=1'), 'image', 'image/png'],
    ['a film', video(uri('video/mp4', sampleFile('mp4'))), 'video', 'video/mp4'],
    ['a film of pictures', video(uri('video/jpeg', sampleFile('jpg'))), 'video', 'video/jpeg'],
    ['a film of a site', video('https://youtu.be/abc'), 'video', 'video/mp4'],
    ['a recording', audio(sampleFile('mp3').toString('base64')), 'audio', 'audio/mp3'],
    ['a recording with a wrong format', audio(sampleFile('flac').toString('base64')), 'audio', 'audio/mp3'],
    ['a recording in a container', audio(uri('video/webm', sampleFile('webm'))), 'audio', 'video/webm'],
    ['a document', file(uri('application/pdf', PDF)), 'document', 'application/pdf'],
    ['a document by its bytes', file(PDF.toString('base64'), 'a.txt'), 'document', 'application/pdf'],
    ['a document by its name', file(UNKNOWN.toString('base64'), 'a.csv'), 'text', 'text/csv'],
    [
      'text that begins like a tag',
      file(uri('text/plain', Buffer.from('ID3 is a tag'))),
      'text',
      'text/plain',
    ],
    ['a file of an unknown type', file(uri('application/new', UNKNOWN)), null, 'application/new'],
    ['a document at an address', file('https://example.com/a.pdf'), 'document', 'application/pdf'],
  ])('a part that is %s is read as such', (_name, part, kind, mediaType) => {
    expect(readMediaPart(part)).toMatchObject({ kind, mediaType })
  })

  test.each<[string, MediaPart]>([
    ['a document as a picture', image(uri('image/png', PDF))],
    ['a document as a picture, by its type', image(uri('application/pdf', UNKNOWN))],
    ['a document as a picture, after white space', image(uri('image/png', Buffer.from('\n %PDF-1.7')))],
    ['a document as a picture, in another encoding', image('data:image/png,%25PDF-1.7')],
    ['text as a picture', image(uri('text/plain', Buffer.from('hello')))],
    ['a film as a picture', image(uri('image/gif', sampleFile('mp4')))],
    ['an archive as a picture', image(uri('image/png', ZIP))],
    ['a recording as a picture', image(uri('audio/wav', UNKNOWN))],
    ['a document as a picture, at an address', image('https://example.com/a.pdf?x=1')],
    ['a film of a site as a picture', image('https://www.youtube.com/watch?v=abc')],
    ['a file of an account at Google', file('https://generativelanguage.googleapis.com/v1beta/files/abc')],
    ['a document as a film', video(uri('video/mp4', PDF))],
    ['a document as a recording', audio(PDF.toString('base64'))],
    ['a document as text', file(uri('text/plain', PDF))],
    ['an archive as text', file(uri('text/plain', ZIP), 'a.docx')],
    ['a film as a document', file(uri('application/pdf', sampleFile('mp4')))],
    ['a picture as a document', file(uri('application/pdf', PNG))],
    ['a data URI with two types', image(`data:image/png,application/pdf;base64,${PDF.toString('base64')}`)],
    ['a data URI without data', image('data:image/png;base64,')],
    ['a data URI without a comma', image('data:image/png;base64')],
    ['a data URI with other characters', image(`data:image/png;base64,!!${PDF.toString('base64')}`)],
    ['a file of the server', image('file:///etc/passwd')],
    ['a bucket', file('gs://bucket/a.pdf')],
    ['no address at all', image('cat.png')],
  ])('a part that is %s is refused', (_name, part) => {
    expect(() => readMediaPart(part)).toThrow(MistakenPart)
  })
})
