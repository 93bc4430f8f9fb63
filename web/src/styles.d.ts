/** Style sheets that a module imports; the bundler puts them into `main.css`, and gives an element their text. */

declare module "*.css" {
  const text: string;
  export default text;
}
