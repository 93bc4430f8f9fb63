/** Style sheets that a module imports; the bundler puts them into `main.css`. */

declare module "*.css";
