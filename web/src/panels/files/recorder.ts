/** A picture of the camera or sound of the microphone as a file, after the reader's consent. */

import { button, el } from "../../parts/dom";

export interface Recorder {
  /** The buttons that start a recording. */
  buttons: HTMLElement[];
  /** Shows the running recording, and its Stop button. */
  dom: HTMLElement;
}

/** `take` receives each file; `refused` receives the reason if there is none. */
export function mountRecorder(take: (file: File) => void, refused: (reason: string) => void): Recorder {
  const dom = el("div", { class: "files-recorder", hidden: true });
  let end: () => void = () => undefined;

  const begin = async (constraints: MediaStreamConstraints, show: (stream: MediaStream) => Promise<HTMLElement[]>): Promise<void> => {
    end();
    try {
      const stream = await navigator.mediaDevices.getUserMedia(constraints);
      end = () => {
        for (const track of stream.getTracks()) track.stop();
        dom.hidden = true;
        dom.replaceChildren();
        end = () => undefined;
      };
      dom.replaceChildren(...(await show(stream)), button("Cancel", () => end()));
      dom.hidden = false;
    } catch (error) {
      end();
      refused(error instanceof Error ? error.message : String(error));
    }
  };
  const camera = (): Promise<void> =>
    begin({ video: true }, async (stream) => {
      const video = el("video", { class: "files-camera", "aria-label": "What the camera sees" });
      Object.assign(video, { srcObject: stream, muted: true, playsInline: true });
      await video.play();
      const press = async (): Promise<void> => {
        const file = await pictureOf(video);
        end();
        take(file);
      };
      return [video, button("Take the picture", () => void press(), { class: "primary" })];
    });
  const microphone = (): Promise<void> =>
    begin({ audio: true }, (stream) => {
      const recorder = new MediaRecorder(stream);
      const parts: Blob[] = [];
      recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
      const stop = (): void => {
        recorder.addEventListener("stop", () => {
          end();
          soundOf(new Blob(parts)).then(take, (error: unknown) => refused(String(error)));
        });
        recorder.stop();
      };
      recorder.start();
      const words = el("span", { role: "status" }, "Recording…");
      return Promise.resolve([words, button("End the recording", stop, { class: "primary" })]);
    });
  const title = "The browser asks you first; the program itself cannot reach it.";
  const buttons = [
    button("Camera…", () => void camera(), { title }),
    button("Microphone…", () => void microphone(), { title }),
  ];
  return { buttons, dom };
}

/** The current frame of a video, as PNG. */
async function pictureOf(video: HTMLVideoElement): Promise<File> {
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
  canvas.getContext("2d")?.drawImage(video, 0, 0);
  return new File([await canvas.convertToBlob({ type: "image/png" })], "camera.png");
}

/** Convert a browser's recording to a float32 WAV file. */
async function soundOf(recorded: Blob): Promise<File> {
  const context = new AudioContext();
  try {
    const sound = await context.decodeAudioData(await recorded.arrayBuffer());
    return new File([wav(sound)], "recording.wav");
  } finally {
    await context.close();
  }
}

const HEAD = 44;
const FLOATS = 3;

function wav(sound: AudioBuffer): ArrayBuffer {
  const { length, numberOfChannels: channels, sampleRate } = sound;
  const frame = 4 * channels;
  const buffer = new ArrayBuffer(HEAD + length * frame);
  const view = new DataView(buffer);
  const word = (at: number, text: string): void => [...text].forEach((letter, n) => view.setUint8(at + n, letter.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, buffer.byteLength - 8, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, FLOATS, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * frame, true);
  view.setUint16(32, frame, true);
  view.setUint16(34, 32, true);
  word(36, "data");
  view.setUint32(40, length * frame, true);
  for (let channel = 0; channel < channels; channel++) {
    sound.getChannelData(channel).forEach((value, at) => view.setFloat32(HEAD + at * frame + 4 * channel, value, true));
  }
  return buffer;
}
