"""What the default command leaves to .ci/run: cases that cost seconds beside others of the same test or law.

A file and a test of it, and patterns of its parameters, or none: then all of it. Laws of motion are in slow_laws.py.
"""

from fnmatch import fnmatchcase
from typing import Any

from slow_laws import CASES_OF_LAWS

# The largest, of any test, and joints of which another is left that is of the same kind.
CASES_OF_ANY = (
    "tree of 13", "tree of 20", "tree of 40", "666", "elastic 666",
    "library_ellipsoid", "library_torus", "library_sphere", "library_spheroid", "library_paraboloid",
    "spinning_glider", "spinning_contact", "spinning_bead", "minimal_wire", "measured_ring", "banked_ring",
    "bspline_patch", "bezier_patch", "cyclic_bezier", "torus_on_cylinder", "twisted_cubic", "wheel_on_parabola",
)  # fmt: skip

CASES: dict[str, tuple[str, ...]] = CASES_OF_LAWS | {
    "laws/test_thin_discs.py::test_coins_that_whirl_as_they_fall_flat_gain_nothing": ("off1-*", "*-True"),
    "bridge/test_collision_shapes.py::test_an_obj_file_of_one_hollow_thing_is_cut": (),
    "bridge/test_polytopes_on_facets.py::test_what_is_near_is_as_near_as_its_nearest_corner_edge_or_face": (),
    "bridge/test_direct_route.py::test_a_window_is_spoken_to_by_address_and_may_be_closed": (),
    "bridge/test_direct_route.py::test_both_routes_agree_on_what_is_bullets_own": ("True",),
    "bridge/test_force_twin.py::test_twins_converge_to_the_reduced_motion_at_first_order": (
        "held, couples", "held, tree",
    ),
    "bridge/test_full_disks.py::test_a_full_disk_stops_no_cutting": (),
    "bridge/test_led_bodies.py::test_bodies_that_nothing_holds_are_accelerated_as_by_any_joint": (
        "tree of 8", "screw", "helix", "euler", "telescope", "tree of 3", "prismatic",
    ),
    "bridge/test_mesh_cache.py::test_a_first_robot_touches_the_ground_without_what_only_reads_meshes": (),
    "bridge/test_mirror_interrupts.py::test_an_interrupt_leaves_simulation_and_bullet_after_a_finished_step": (),
    "bridge/test_multibody_twin.py::test_a_floating_robot_comes_to_ours_at_first_order": ("wrenches",),
    "bridge/test_multibody_twin.py::test_at_rest_balls_are_accelerated_alike": ("wrenches",),
    "bridge/test_multibody_twin.py::test_what_has_passed_the_limits_of_its_file_moves_on_as_ours_without_them": (),
    "bridge/test_pictures.py::test_automatic_camera_frames_scenes_of_any_size_and_place": ("egl", "tiny"),
    "bridge/test_windows_and_films.py::test_renderer_keeps_quiet_and_shadows_fall": (),
    "bridge/test_windows_and_films.py::test_window_opens_where_there_is_a_display": (),
    "codegen/test_c.py::test_exported_functions_agree_with_interpreter_and_machine_code": (
        "one axis", "several axes", "curves", "contact", "surfaces", "control points", "symbolic", "quaternions",
    ),
    "codegen/test_c.py::test_exported_functions_of_a_constrained_scene": (),
    "codegen/test_c_operations.py::test_long_programs_are_cut": ("-O2",),
    "codegen/test_c_programs.py::test_the_example_ends_where_python_does": (),
    "codegen/test_cache.py::test_two_processes_race_and_a_third_does_not_compile": (),
    "codegen/test_cache_entries.py::test_writers_at_once_leave_whole_entries": (),
    "codegen/test_cache_loops.py::test_every_loop_of_the_project_has_one_key_in_all_processes": (),
    "codegen/test_equations.py::test_assignments_are_the_compiled_function": (
        "True-*", "False-step", "False-forward_dynamics",
    ),
    "codegen/test_equations.py::test_equations_are_the_compiled_function": (
        "torus-*", "helix-mass_matrix", "helix-*", "slider and universal-*", "tables-kinetic*", "tables-poses",
        "free-step", "ball-poses", "ball-forward*", "free-inverse*", "rocking pair-inverse*", "rocking pair-forward*",
        "rocking pair-kinetic*", "tables-inverse*", "tables-mass*", "hinges-step",
    ),
    "codegen/test_interpreter.py::test_a_motion_is_the_same_whenever_code_comes": (
        "many-semi_implicit_euler", "many-implicit_midpoint", "many-linearly*", "many-rk4",
    ),
    "contact/test_articulated.py::test_a_doll_falls_and_lies": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_cone.py::test_a_solve_that_did_not_converge_is_off_by_about_what_it_says": ("0", "1", "2"),
    "contact/test_cone.py::test_many_contacts_meet_coulombs_law_to_the_tolerance": ("0", "1", "2", "4"),
    "contact/test_coordinate_rows.py::test_what_falls_onto_its_stop_lies_there": ("*-implicit_midpoint",),
    "contact/test_disturbed_piles.py::test_so_do_thirty_bricks_with_such_frictions": ("1-*", "2-frictions2"),
    "contact/test_extremes.py::test_a_press_of_a_hundred_kilonewtons_does_not_pass_through_ten_grams": ("240-*-rk4-*",),
    "contact/test_free_bodies.py::test_articulated_bodies_of_bullets_are_no_harm": ("r2d2*", "racecar*"),
    "contact/test_hung_rollers.py::test_what_rocks_on_an_arm_keeps_its_amplitude": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_hung_rollers.py::test_what_rolls_about_a_ball_joint_keeps_its_speed": ("rk4", "implicit_midpoint"),
    "contact/test_hung_rollers.py::test_what_rolls_round_a_pole_keeps_its_speed": ("rk4-*", "implicit_midpoint-*"),
    "contact/test_maximal_contact.py::test_impulses_bring_no_energy_in_where_bodies_move_across_joints": ("ball",),
    "contact/test_maximal_contact.py::test_limits_and_dry_friction_act_on_the_coordinates_of_joints": (
        "velocity_constraints",
    ),
    "contact/test_responses.py::test_whitened_directions_multiply_to_the_inverse_of_the_mass_matrix": (
        "tree of 8", "shared 4",
    ),
    "contact/test_responses.py::test_whitening_back_and_forth": ("shared 4", "tree of 8"),
    "contact/test_rocking.py::test_what_rocks_keeps_its_amplitude": ("ellipsoid-0.0-*", "ball-1.0-*"),
    "contact/test_rocking.py::test_what_rocks_with_more_hung_on_it_keeps_its_amplitude": (
        "wheel-0.0-*", "feather-1.0-*",
    ),
    "contact/test_rocking.py::test_what_springs_and_dampers_do_is_all_that_they_change": ("held law-*",),
    "contact/test_sensors_in_loops.py::test_what_nothing_but_constraints_touches_is_carried_as_they_say": ("7",),
    "contact/test_sleeping.py::test_snapshots_hold_who_sleeps_and_since_when_others_rest": ("drums-*",),
    "contact/test_snapshots.py::test_what_follows_a_snapshot_follows_it_again": ("doll",),
    "contact/test_solve_kernels.py::test_a_solve_is_what_plain_python_makes_of_it": ("3-until it yields",),
    "contact/test_springs_pressed_on.py::test_a_sprung_arm_that_bounces_keeps_its_energy": ("0.1-*", "1.0-*"),
    "contact/test_springs_pressed_on.py::test_a_pair_that_bounces_elastically_keeps_its_energy": ("0.1-*", "1.0-*"),
    "contact/test_springs_pressed_on.py::test_what_bounces_on_a_spring_wins_nothing": ("0.3-*", "7.0-*"),
    "contact/test_velocity_changes.py::test_constraints_answer_contacts": ("1",),
    "contact/test_velocity_changes.py::test_motors_do_what_they_say_and_say_what_they_should": (
        "tree of 8", "shared 4",
    ),
    "contact/test_velocity_changes.py::test_velocities_change_by_the_mass_matrix": ("shared 4", "tree of 8"),
    "contact/test_watched_rest.py::test_it_comes_to_rest": ("legs of 1e3", "legs of 1e5"),
    "control/test_any_scene.py::test_every_law_brings_it_to_its_goal_in_steps_of_a_frame": ("surface",),
    "control/test_inverse_kinematics.py::test_targets_that_can_be_met_are_met": ("30 hinges*",),
    "control/test_loaded_steps.py::test_a_robot_stands_as_motors_of_the_same_gains_hold_it": (
        "*-linearly_implicit_rk4",
    ),
    "control/test_lqr.py::test_the_cost_to_go_is_that_of_the_simulation": ("four-bar", "held aslant"),
    "control/test_planning.py::test_an_acrobot_swings_up_by_its_elbow": (),
    "control/test_planning.py::test_motions_reach_their_goals_at_falling_cost": ("pendulum", "bead", "spacecraft"),
    "control/test_planning.py::test_no_force_could_be_changed_to_advantage": ("pendulum",),
    "control/test_tasks.py::test_rates_are_derivatives_along_any_motion": ("shared",),
    "control/test_whole_body.py::test_a_pushed_quadruped_comes_back": (),
    "demos/test_acrobot.py::test_it_swings_up_and_balances_by_the_elbow_alone": (),
    "demos/test_benchmark_contact.py::test_engines_agree_on_a_robots_energy_and_momentum": ("ours",),
    "demos/test_benchmark_contact.py::test_every_engine_starts_where_the_description_says_and_steps": (
        "ours-quadruped energy", "ours-quadruped momentum",
    ),
    "demos/test_benchmark_contact.py::test_heaps_sleep_beside_a_ball_that_rolls": (),
    "demos/test_benchmark_controllers.py::test_controllers_of_the_table_hold_their_robot": ("laikago",),
    "demos/test_benchmark_moving.py::test_every_engine_builds_what_moves_and_goes_through_it": ("ours-2 ragdolls*",),
    "demos/test_benchmark_papers.py::test_method_two_agrees_with_method_one": ("*100*", "*80*", "*50*", "WM", "TC20"),
    "demos/test_benchmark_papers.py::test_operations_grow_as_in_figures_6_and_7": ("torus chain",),
    "demos/test_benchmark_papers.py::test_preparation_is_measured_in_a_process_of_its_own": (),
    "demos/test_benchmark_papers.py::test_the_tables_are_printed": (),
    "demos/test_benchmark_startup.py::test_a_program_comes_to_its_first_contact": (),
    "demos/test_breaking_demo.py::test_a_wheel_breaks_off_and_what_is_cut_falls": (),
    "demos/test_contact_demos.py::test_both_kinds_of_balls_hit_the_sails": (),
    "demos/test_contact_demos.py::test_chains_fall_on_their_own_rings": (),
    "demos/test_contact_demos.py::test_laikago_lands_and_stands": (),
    "demos/test_contact_demos.py::test_ragdolls_fall_in_steps_of_a_sixtieth_of_a_second": ("1", "2"),
    "demos/test_contact_demos.py::test_ragdolls_fall_on_the_stairs": (),
    "demos/test_contact_demos.py::test_the_ball_breaks_the_wall": (),
    "demos/test_contact_demos.py::test_the_rover_drives_over_everything": (),
    "demos/test_gallery.py::test_demo_draws_a_film": (),
    "demos/test_gallery.py::test_demo_draws_a_picture": (
        "stand", "windmill", "leg", "coaster", "stack", "quadrotor_load", "chain_on_floor", "torus_chain",
        "laikago_terrain", "surface_board", "tong", "bead_and_wire", "bezier_chain", "over_the_pole", "disc",
        "showcase", "humanoid", "ellipsoids", "reach", "lqr", "windmill_balls", "three_ways", "ragdolls", "force_twin",
        "rover", "breaking", "driven", "kuka", "wire", "rattleback",
    ),
    "demos/test_gallery.py::test_a_demo_runs_in_a_window": (),
    "demos/test_gallery.py::test_the_gallery_is_a_page_of_pictures_and_players": (),
    "demos/test_games.py::test_the_marble_run_shows_what_there_is": (),
    "demos/test_load_controller.py::test_a_matched_start_leaves_what_sampling_leaves": (),
    "demos/test_load_controller.py::test_it_recovers_from_almost_any_attitude": ("0", "3"),
    "demos/test_load_controller.py::test_the_demo_recovers_and_stays_on_its_path": (),
    "demos/test_manifold_systems.py::test_any_terminal_will_do": ("utf-8", "cp1252"),
    "demos/test_manifold_systems.py::test_bad_command_lines_are_refused": ("arguments1*", "arguments2*"),
    "demos/test_manifold_systems.py::test_sympys_chain_is_ours": (),
    "demos/test_mechanisms_curves.py::test_a_minute_of_one_step_a_frame": ("coaster", "bezier_chain", "bead_and_wire"),
    "demos/test_mechanisms_curves.py::test_bullets_bead_slides_as_ours_at_small_steps": (),
    "demos/test_mechanisms_curves.py::test_cars_stand_upright_on_the_track_and_upside_down_in_the_loop": (),
    "demos/test_mechanisms_curves.py::test_the_coaster_keeps_its_energy_over_a_lap": (),
    "demos/test_mechanisms_curves.py::test_coordinates": ("coaster-21", "bezier_chain-25"),
    "demos/test_mechanisms_curves.py::test_energy_error_falls_with_the_square_of_the_step": (
        "bead_and_wire", "coaster",
    ),
    "demos/test_mechanisms_curves.py::test_our_bead_is_on_the_wire_and_bullets_is_not": (),
    "demos/test_mechanisms_linkages.py::test_a_minute_of_one_step_a_frame": ("leg",),
    "demos/test_mechanisms_linkages.py::test_energy_error_falls_with_the_square_of_the_step": ("leg",),
    "demos/test_mechanisms_papers.py::test_a_minute_of_one_step_a_frame": ("torus_chain", "windmill"),
    "demos/test_mechanisms_papers.py::test_energy_error_of_the_midpoint_rule_falls_with_the_square_of_the_step": (),
    "demos/test_mechanisms_papers.py::test_momentum_about_the_hinge_is_conserved_without_gravity": ("windmill",),
    "demos/test_mechanisms_rolling.py::test_a_minute_of_one_step_a_frame": ("ellipsoids",),
    "demos/test_mechanisms_rolling.py::test_energy_error_falls_with_the_order_of_rk4": ("ellipsoids", "disc"),
    "demos/test_mechanisms_rolling.py::test_nothing_slips": ("ellipsoids",),
    "demos/test_over_the_pole.py::test_all_keep_their_energy_over_poles_and_through_gimbal_lock": (),
    "demos/test_quadrotor_load.py::test_the_same_scene_with_joints_moves_equally": (),
    "drawing/test_beside_bullet.py::test_bullet_and_opengl_take_turns": (),
    "plugin/test_closed_form_contacts.py::test_a_game_of_simple_shapes_runs_where_there_is_no_pybullet": (),
    "plugin/test_plugin.py::test_games_go_by_other_formulations_and_edits_keep_them": ("closed form",),
    "plugin/test_rollback.py::test_two_players_never_differ": (),
    "plugin/test_rollback.py::test_what_follows_is_the_same_here_and_elsewhere": ("closed form",),
    "scene/test_chart_input.py::test_a_hole_between_charts_is_told": ("pole on pole",),
    "scene/test_chart_input.py::test_charts_that_cover_all_are_content": ("all poles",),
    "scene/test_curve_frames.py::test_a_banked_frame_has_the_spline_of_the_directions_up": (
        "4-*", "5-False-*", "3-False-False", "5-True-False", "3-True-*",
    ),
    "scene/test_curve_frames.py::test_closed_curves_close": ("symbolic ring-*",),
    "scene/test_curve_frames.py::test_frames_are_rotations_along_the_tangent": ("bspline through points-*",),
    "scene/test_curves.py::test_a_clamp_holds_a_bead_that_runs_into_an_end": (
        "variational_midpoint", "semi_implicit_euler", "linearly_implicit_rk4",
    ),
    "scene/test_curves.py::test_an_open_curve_goes_on_smoothly_and_then_straight": (
        "symbolic-minimal-1", "bezier-minimal-1", "bspline-up-1", "bspline-minimal-0", "bezier-up-0", "symbolic-up-0",
    ),
    "scene/test_curves.py::test_compiled_poses_are_those_of_the_path": ("5000.0-*", "1.0-True"),
    "scene/test_curves.py::test_just_beyond_a_limit_there_is_a_frame": (
        "up-True", "minimal-True", "translation-True", "minimal-False",
    ),
    "scene/test_curves.py::test_momentum_depends_smoothly_on_the_place_at_every_knot_and_end": ("minimal",),
    "scene/test_curves.py::test_saved_and_loaded": (
        "symbolic", "ring", "bspline through points", "symbolic ring", "cyclic", "bspline",
    ),
    "scene/test_file.py::test_random_trees_come_back_as_the_same_model": ("4-20",),
    "scene/test_file_constructors.py::test_another_process_reads_the_same_model": (),
    "scene/test_file_constructors.py::test_what_is_wrong_with_a_constructor_is_named": ("joint2-*",),
    "scene/test_file_sharing.py::test_constrained_trees_come_back_as_the_same_model": ("2-7", "0-4"),
    "scene/test_file_sharing_errors.py::test_a_damaged_file_loads_or_is_refused_by_name": (),
    "scene/test_file_surfaces.py::test_surfaces_roll_as_before": (
        "ellipsoid about *", "with names taken-*", "of two symbols-*", "named-*",
    ),
    "scene/test_file_surfaces.py::test_wires_and_patches_are_drawn_as_before": (),
    "scene/test_linear_work.py::test_files_are_written_and_read_in_linear_time": ("star",),
    "scene/test_linear_work.py::test_models_are_put_together_in_linear_time": ("followers", "star"),
    "scene/test_linear_work.py::test_recursions_are_planned_in_linear_time": ("*-star-*",),
    "scene/test_surfaces.py::test_normals_point_outward": (
        "sphere", "sphere y", "ellipsoid", "ellipsoid y", "torus", "torus x", "spheroid",
    ),
    "scene/test_urdf_robots.py::test_agrees_with_pinocchio": (
        "a1-True", "panda-True", "kuka-True", "mini_cheetah-*", "laikago-True", "r2d2-False", "humanoid-False",
    ),
    "scene/test_urdf_robots.py::test_agrees_with_pybullet": ("mini_cheetah", "panda"),
    "scene/test_urdf_robots.py::test_every_joint_transmits_what_pinocchio_says": (
        "a1-True", "panda-True", "kuka-True", "mini_cheetah-*", "laikago-True", "r2d2-False", "humanoid-False",
    ),
    "scene/test_urdf_robots.py::test_every_link_stands_where_pinocchio_puts_it": (
        "a1-True", "panda-True", "kuka-True", "mini_cheetah-*", "laikago-True", "r2d2-False", "humanoid-False",
    ),
    "contact/test_rocking_on_carriers.py::test_what_rocks_on_a_plate_that_lies_freely_keeps_its_energy": ("1.0-*",),
    "contact/test_rocking_on_carriers.py::test_what_rocks_on_what_hangs_on_a_joint_keeps_its_amplitude": ("lift-*",),
    "simulation/test_winches.py::test_a_load_that_is_reeled_in_keeps_its_angular_momentum": (
        "semi_implicit_euler", "rk4", "implicit_midpoint",
    ),
    "simulation/test_winches.py::test_what_a_parameter_is_to_move_is_kept_by_snapshots": ("False",),
    "simulation/test_winches.py::test_what_else_moves_in_a_scene_does_not_matter": ("led",),
    "simulation/test_kicks_are_loads.py::test_joints_break_by_the_impulse_that_constraints_give": ("100.0",),
    "contact/test_budget.py::test_a_wall_whose_solves_end_early_gains_nothing_and_stands": ("10",),
    "contact/test_budget.py::test_so_it_does_at_60_hz": ("5-*",),
    "contact/test_poured.py::test_no_step_brings_energy_into_what_is_poured": ("seeds0",),
    "simulation/test_foreign_snapshots.py::test_a_rollback_across_a_break_takes_what_broke_put_in_again": ("True",),
    "simulation/test_loads_of_motors.py::test_an_arm_that_motors_hold_rests_and_bears_its_weight": ("motor1-*",),
    "simulation/test_loads_of_motors.py::test_arms_on_springs_rest_where_statics_says": (
        "*-semi_implicit_euler-*", "*-implicit_midpoint-*",
    ),
    "simulation/test_loads_of_motors.py::test_motors_hold_on_springs_of_any_stiffness": (
        "*-element", "*-ball", "*-2.5-*",
    ),
    "simulation/test_plastic_impulses.py::test_a_kick_is_met_by_an_impulse_that_keeps_the_momenta_of_what_floats": (
        "*-semi_implicit_euler-*", "*-implicit_midpoint-*", "*-rk4-*",
    ),
    "simulation/test_springs_keep_energy.py::test_a_spring_swings_for_a_minute": ("*-2.9-*",),
    "simulation/test_taut_chains.py::test_a_parallelogram_is_led_through_its_flat_position": ("0.0001",),
    "simulation/test_taut_chains.py::test_what_hangs_beside_swings_as_alone": (),
    "control/test_planning.py::test_the_tracker_forgives_what_the_forces_alone_do_not": (),
    "simulation/test_energy_in_company.py::test_halves_are_those_of_the_definition_where_something_else_moves_too": (
        "False",
    ),
    "contact/test_budget.py::test_what_time_ends_takes_energy_away": ("0-1",),
    "test_missing_packages.py::test_what_needs_a_package_says_which": ("from scene*",),
    "test_quality.py::test_tool_is_content": ("types",),
    "test_readme.py::test_the_examples_run_one_after_the_other": (
        "control.md", "conversion.md", "mechanisms.md", "recording.md", "viewer.md", "c.md", "topology.md",
        "frames.md", "derivatives.md", "contact.md", "performance.md", "time.md", "forces.md", "plugin.md",
        "formulations.md", "integrators.md", "first_joint.md",
    ),
    "viewer/test_viewer.py::test_demos_run_in_the_window": (),
    "viewer/test_viewer.py::test_real_windows_open_side_by_side_and_show_what_hidden_ones_do": (),
}  # fmt: skip


def slow(place: str, test: str, parameters: dict[str, Any], case: str) -> bool:
    """Whether a case waits for .ci/run: of the test in the file at ``place``, called ``case`` for its parameters."""
    if any(str(value) in CASES_OF_ANY for value in parameters.values()):
        return True
    patterns = CASES.get(f"{place}::{test}")
    return patterns is not None and (not patterns or any(fnmatchcase(case, p) for p in patterns))
